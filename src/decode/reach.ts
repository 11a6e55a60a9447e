import type { HeldFile, ProcessInfo } from "../event.js";
import { PIN_DEVICE, PIN_FAILED, PIN_FOUND, PIN_MISSING, PIN_NAME, PIN_SIZE } from "../kernel/layout.js";
import { native, RESOLVE } from "../kernel/native.js";
import { describeDescriptor } from "../process/descriptor.js";
import type { Kin } from "../process/kin.js";
import type { Stacks } from "../process/stack.js";
import { decodeText, encodeText } from "../text.js";
import { AT_FDCWD } from "./shape.js";

const SLASH = 0x2f;
const EAGAIN = 11;
/** As much as a broker tells at once (native/broker.h). */
const MAX_READ = 8192;

/** Who made a call is looked up only when somebody asks. */
export interface Processes {
  get(tid: number): ProcessInfo;
  /** Finds out in which of these a tracee differs, before anything is done in its place. */
  look(broker: number, tid: number): void;
  /** Some tracee may see another tree of files than whoever acts for it. */
  readonly viewsDiffer: boolean;
  /** Some tracee may be another user, or have other rights. */
  readonly identitiesDiffer: boolean;
  readonly stacks: Stacks;
  readonly kin: Kin;
  /** Whether a process belongs to the run that the caller belongs to. */
  isOfRun(pid: number, caller: number): boolean;
}

export interface Way {
  /** Stop.broker */
  readonly broker: number;
  readonly dirfd: number;
  readonly path: Uint8Array;
  /** RESOLVE bits of the call. */
  readonly flags: number;
  readonly pin: Uint8Array;
}

/** Where resolve() leaves its answer, which is read at once. */
const canonicalPath = Buffer.alloc(8192);

/** The canonical name of what a path reaches for that tracee. What it reaches is held open in the pin. */
export function reach(tid: number, processes: Processes, { broker, dirfd, path, flags, pin }: Way): string {
  processes.look(broker, tid);
  const { viewsDiffer, identitiesDiffer } = processes;
  const all = flags | (viewsDiffer ? RESOLVE.apart : 0) | (identitiesDiffer ? RESOLVE.asTracee : 0);
  const length = native().resolve(broker, tid, dirfd, path, all, canonicalPath, pin);
  if (length > 0) return decodeText(canonicalPath.subarray(0, length));
  const requested = decodeText(path);
  return length === 0 ? requested : lexical(tid, processes, dirfd, requested);
}

/** The best name for a path that leads nowhere: the kernel will refuse it whatever we say. */
function lexical(tid: number, processes: Processes, dirfd: number, requested: string): string {
  const base = requested.startsWith("/")
    ? ""
    : dirfd === AT_FDCWD
      ? processes.get(tid).cwd
      : (describeDescriptor(tid, dirfd).target ?? "");
  const parts: string[] = [];
  for (const part of `${base}/${requested}`.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** A file that is held open, and read by whoever holds it. */
export class PinnedFile implements HeldFile {
  readonly path: string;
  readonly #pin: Uint8Array;

  constructor(path: string, pin: Uint8Array) {
    this.path = path;
    this.#pin = pin;
  }

  read(offset: number, length: number): Buffer | "busy" {
    const bytes = Buffer.alloc(length);
    const got = native().readPin(this.#pin, offset, bytes);
    return got === -EAGAIN ? "busy" : bytes.subarray(0, Math.max(0, got));
  }

  readAll(): Buffer {
    const parts: Buffer[] = [];
    for (let at = 0; ; at += parts.at(-1)!.length) {
      const part = this.read(at, MAX_READ);
      if (part === "busy" || part.length === 0) return Buffer.concat(parts);
      parts.push(part);
    }
  }

  get device(): number | undefined {
    const { buffer, byteOffset, byteLength } = this.#pin;
    return new DataView(buffer, byteOffset, byteLength).getUint32(PIN_DEVICE, true) || undefined;
  }

  release(): void {
    native().releasePin(this.#pin);
  }
}

/** What a path means to a tracee. Whoever asks releases it. */
export function reachForCaller(broker: number, tid: number, processes: Processes, path: string): PinnedFile {
  const pin = new Uint8Array(PIN_SIZE);
  const way = { broker, dirfd: AT_FDCWD, path: encodeText(path), flags: RESOLVE.follow, pin };
  return new PinnedFile(reach(tid, processes, way), pin);
}

/**
 * When the folder above what is held open was made, so many levels up, or, with -1 or where its folder is not known, what
 * is held open itself: milliseconds since 1970.
 */
export function birthOf(pin: Uint8Array, levels: number): number {
  const { state } = readPin(pin);
  if (levels < 0 && state === PIN_MISSING) return Number.POSITIVE_INFINITY; // it is yet to be made
  return factsOf(pin, levels)?.born ?? 0;
}

/** What is known of a file that is held open (struct pin_facts). */
export interface PinFacts {
  readonly device: bigint;
  readonly inode: bigint;
  /** Milliseconds since 1970, 0 when that is not known. */
  readonly born: number;
  readonly mount: bigint;
  /** As the kernel has it: stat(2) may tell another (btrfs, overlays). */
  readonly inodeInside: bigint;
}

const ITSELF = -1;

export function factsOf(pin: Uint8Array, levels = ITSELF): PinFacts | undefined {
  const words = new BigUint64Array(5);
  if (native().statPin(pin, levels, new Uint8Array(words.buffer)) < 0) return undefined;
  const [device, inode, , mount, inodeInside] = words as unknown as bigint[];
  return {
    device: device!,
    inode: inode!,
    born: new Float64Array(words.buffer)[2]!,
    mount: mount!,
    inodeInside: inodeInside!,
  };
}

/** What is held open: an errno when the way failed, descriptors of the object and of its folder where they are, else -1. */
export function readPin(pin: Uint8Array): {
  state: number;
  error: number;
  object: number;
  parent: number;
  slash: boolean;
} {
  const view = Buffer.from(pin.buffer, pin.byteOffset, pin.byteLength);
  const state = view.readUInt32LE(0);
  const held = state === PIN_FOUND || state === PIN_MISSING;
  const name = view.subarray(PIN_NAME);
  return {
    state,
    error: state === PIN_FAILED ? view.readInt32LE(4) : 0,
    object: state === PIN_FOUND ? view.readInt32LE(8) : -1,
    parent: held ? view.readInt32LE(12) : -1,
    slash: held && name.subarray(0, name.indexOf(0)).at(-1) === SLASH,
  };
}
