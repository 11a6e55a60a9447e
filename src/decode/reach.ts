import { statSync } from "node:fs";
import type { ProcessInfo } from "../event.js";
import { PIN_FAILED, PIN_FOUND, PIN_MISSING, PIN_NAME, PIN_SIZE } from "../kernel/layout.js";
import { native, RESOLVE } from "../kernel/native.js";
import { describeDescriptor } from "../process/descriptor.js";
import type { Kin } from "../process/kin.js";
import type { Stacks } from "../process/stack.js";
import { decodeText, encodeText } from "../text.js";
import { AT_FDCWD } from "./shape.js";

const SLASH = 0x2f;

/** Who made a call is looked up only when somebody asks. */
export interface Processes {
  get(tid: number): ProcessInfo;
  /** Finds out in which of these a tracee differs, before anything is done in its place. */
  look(tid: number): void;
  /** Some tracee may see another tree of files than we do. */
  readonly viewsDiffer: boolean;
  /** Some tracee may be another user, or have other rights, than we. */
  readonly identitiesDiffer: boolean;
  readonly stacks: Stacks;
  readonly kin: Kin;
  /** Whether a process belongs to the run that the caller belongs to. */
  isOfRun(pid: number, caller: number): boolean;
}

export interface Way {
  readonly dirfd: number;
  readonly path: Uint8Array;
  /** RESOLVE bits of the call. */
  readonly flags: number;
  readonly pin: Uint8Array;
}

/** Where resolve() leaves its answer, which is read at once. */
const canonicalPath = Buffer.alloc(8192);

/** The canonical name of what a path reaches for that tracee. What it reaches is held open in the pin. */
export function reach(tid: number, processes: Processes, { dirfd, path, flags, pin }: Way): string {
  processes.look(tid);
  const { viewsDiffer, identitiesDiffer } = processes;
  const all = flags | (viewsDiffer ? RESOLVE.apart : 0) | (identitiesDiffer ? RESOLVE.asTracee : 0);
  const length = native().resolve(tid, dirfd, path, all, canonicalPath, pin);
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

/** What a path means to a tracee, and how we can read it. */
export function reachForCaller(
  tid: number,
  processes: Processes,
  path: string,
): { readonly path: string; readonly open: string } {
  const pin = new Uint8Array(PIN_SIZE);
  const way = { dirfd: AT_FDCWD, path: encodeText(path), flags: RESOLVE.follow, pin };
  const canonical = reach(tid, processes, way);
  native().releasePin(pin);
  return { path: canonical, open: `/proc/${tid}/root${canonical}` };
}

/**
 * When the folder above what is held open was made, so many levels up, or, with -1 or where its folder is not known, what
 * is held open itself: milliseconds since 1970.
 */
export function birthOf(pin: Uint8Array, levels: number): number {
  const { object, parent, state } = readPin(pin);
  if (levels < 0 && state === PIN_MISSING) return Number.POSITIVE_INFINITY; // it is yet to be made
  const isFile = parent < 0 || levels < 0;
  if ((isFile ? object : parent) < 0) return 0;
  const file = isFile ? `/proc/self/fd/${object}` : `/proc/self/fd/${parent}${"/..".repeat(levels)}/`;
  return statSync(file, { throwIfNoEntry: false })?.birthtimeMs ?? 0;
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
