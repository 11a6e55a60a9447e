import { AT_FDCWD, errnoValue } from "../../abi/named.js";
import type { HeldFile, ProcessInfo } from "../../nouns/event.js";
import { decodeText, encodeText } from "../../nouns/text.js";
import { PIN_DEVICE, PIN_FAILED, PIN_FOUND, PIN_MISSING, PIN_NAME, PIN_SIZE } from "../binding/layout.js";
import { native, RESOLVE } from "../binding/native.js";
import { pinFacts } from "../binding/pin-facts.js";
import { describeDescriptor } from "../process/descriptor.js";
import type { KernelKin } from "../process/kernel-kin.js";
import type { Stacks } from "../process/stacks.js";

const SLASH = 0x2f;
const EAGAIN = errnoValue("EAGAIN");
/** The most that a broker returns at once (native/protocol/broker.h). */
const MAX_READ = 8192;

/** The caller's process is looked up on first use. */
export interface ProcessLookup {
  get(tid: number): ProcessInfo;
  /** Checks in which of these respects a tracee differs, before a call is made on its behalf. */
  look(broker: number, tid: number): void;
  /** Some tracee may see another file tree than the process that acts on its behalf. */
  readonly viewsDiffer: boolean;
  /** Some tracee may have another user or other privileges. */
  readonly identitiesDiffer: boolean;
  readonly stacks: Stacks;
  readonly kin: KernelKin;
  /** True when a process belongs to the caller's run. */
  isOfRun(pid: number, caller: number): boolean;
}

interface PathQuery {
  /** Stop.broker */
  readonly broker: number;
  readonly dirfd: number;
  readonly path: Uint8Array;
  /** RESOLVE bits of the call. */
  readonly flags: number;
  readonly pin: Uint8Array;
}

/** resolve() writes its answer here; it is read at once. */
const canonicalPath = Buffer.alloc(8192);

/** The canonical path of the file that a path reaches for this tracee. The pin holds the file open. */
export function reachPath(
  tid: number,
  processes: ProcessLookup,
  { broker, dirfd, path, flags, pin }: PathQuery,
): string {
  processes.look(broker, tid);
  const { viewsDiffer, identitiesDiffer } = processes;
  const all = flags | (viewsDiffer ? RESOLVE.apart : 0) | (identitiesDiffer ? RESOLVE.asTracee : 0);
  const length = native().resolve(broker, tid, dirfd, path, all, canonicalPath, pin);
  if (length > 0) return decodeText(canonicalPath.subarray(0, length));
  const requested = decodeText(path);
  return length === 0 ? requested : lexical(tid, processes, dirfd, requested);
}

/** The best name for a path that does not resolve. The kernel will refuse it in any case. */
function lexical(tid: number, processes: ProcessLookup, dirfd: number, requested: string): string {
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

/** A pinned file, read by the process that holds it open. */
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

/** Resolves a path as a tracee would. The caller releases the pin. */
export function reachForCaller(
  broker: number,
  tid: number,
  processes: ProcessLookup,
  path: string,
): PinnedFile {
  const pin = new Uint8Array(PIN_SIZE);
  const way = { broker, dirfd: AT_FDCWD, path: encodeText(path), flags: RESOLVE.follow, pin };
  return new PinnedFile(reachPath(tid, processes, way), pin);
}

/**
 * The birth time of the folder `levels` above the pinned file. With -1, or if its folder is unknown: of the
 * pinned file itself. Milliseconds since 1970.
 */
export function birthOf(pin: Uint8Array, levels: number): number {
  const { state } = readPin(pin);
  if (levels < 0 && state === PIN_MISSING) return Number.POSITIVE_INFINITY; // it does not exist yet
  return pinFacts(pin, levels)?.born ?? 0;
}

/** Makes a pin of a path that reaches nothing. */
export function failPin(pin: Uint8Array, error: number): void {
  native().releasePin(pin);
  const view = Buffer.from(pin.buffer, pin.byteOffset, pin.byteLength);
  view.writeUInt32LE(PIN_FAILED, 0);
  view.writeInt32LE(error, 4);
  view.writeInt32LE(-1, 8);
  view.writeInt32LE(-1, 12);
}

/**
 * The content of a pin: an errno when resolving failed; descriptors of the object and of its folder, or -1.
 */
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
