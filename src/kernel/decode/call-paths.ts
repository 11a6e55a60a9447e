import type { Argument } from "../../abi/index.js";
import { AT_FDCWD, errnoValue, flagsValue } from "../../abi/named.js";
import type { PathArgument } from "../../nouns/event.js";
import { encodeText } from "../../nouns/text.js";
import { native, RESOLVE } from "../binding/native.js";
import { isMemory } from "../binding/pin-facts.js";
import type { Stop } from "../binding/stop.js";
import { holdDescriptor } from "../process/descriptor.js";
import type { DecodedCall } from "./call.js";
import { AT_EMPTY_PATH, follows, HOW_RESOLVE, howWord } from "./call-shape.js";
import { readString } from "./memory.js";
import { birthOf, failPin, type ProcessLookup, reachPath } from "./reach-path.js";

const O_CREAT = flagsValue("open", "O_CREAT");
const EFAULT = errnoValue("EFAULT");
const ENAMETOOLONG = errnoValue("ENAMETOOLONG");
const PATH_MAX = 4096;
const LINKS: ReadonlySet<string> = new Set(["link", "linkat"]);

/** The paths of a stopped call, and the files that they reach. Resolving a path pins its file. */
export class CallPaths {
  readonly #call: DecodedCall;
  readonly #processes: ProcessLookup;
  /** The session's shared buffer, which has the pins. */
  readonly #shared: Stop;
  #all: readonly PathArgument[] | undefined;
  /** By the index of the path. */
  readonly #redirected: { readonly to: Buffer; readonly path: string }[] = [];

  constructor(call: DecodedCall, processes: ProcessLookup, shared: Stop) {
    this.#call = call;
    this.#processes = processes;
    this.#shared = shared;
  }

  get all(): readonly PathArgument[] {
    if (!this.#all) {
      const found: PathArgument[] = [];
      for (const [k, i] of this.#call.shape.paths.entries()) {
        const path = this.#resolve(i, this.#shared.pin(k));
        if (path) found.push(path);
      }
      this.#all = found;
    }
    return this.#all;
  }

  /** The text of a path argument, as it was at the stop. */
  text(i: number): string | undefined {
    const { stop } = this.#call;
    this.#call.looked = true;
    if (stop.isNull(i)) return undefined;
    if (!stop.has(i)) return readString(this.#call.snapshot, stop.exact(i), PATH_MAX);
    if (stop.slotError(i) !== 0 || stop.slotTruncated(i)) return undefined;
    return stop.slotText(i);
  }

  /**
   * Replaces one of the paths, or the socket's path, and pins the new file. Returns its canonical path.
   * `requested` keeps the original name.
   */
  redirect(path: Uint8Array, which: number): string {
    const known = this.#redirected[which];
    if (known && Buffer.compare(known.to, path) === 0) return known.path;
    const { call, shape } = this.#call;
    void this.#call.paths;
    void this.#call.addresses;
    const argument = call.args[shape.paths[which] ?? -1];
    const follow = argument ? this.#follows(argument) : call.name !== "bind";
    const parent = shape.changesEntry || (argument ? this.mayCreate() : !follow);
    const pin = this.#shared.pin(which);
    native().releasePin(pin);
    const flags = (parent ? RESOLVE.parent : 0) | (follow ? RESOLVE.follow : 0);
    const reached = this.reach(AT_FDCWD, path, flags, pin);
    this.#redirected[which] = { to: Buffer.from(path), path: reached };
    return reached;
  }

  /** The canonical path of the file that a path reaches. The pin holds the file open. */
  reach(dirfd: number, path: Uint8Array, flags: number, pin: Uint8Array): string {
    const { tid, broker } = this.#call.stop;
    return reachPath(tid, this.#processes, { broker, dirfd, path, flags, pin });
  }

  /** How to resolve a path argument: RESOLVE bits. */
  resolveFlags(i: number): number {
    const { call, shape, how } = this.#call;
    const argument = call.args[i]!;
    const isLinked = LINKS.has(call.name) && i === shape.paths[0]; // that entry stays
    const parent = (shape.changesEntry && !isLinked) || (argument.creates && this.mayCreate());
    return (
      (this.#follows(argument) ? RESOLVE.follow : 0) |
      (parent ? RESOLVE.parent : 0) |
      (howWord(how, HOW_RESOLVE) << RESOLVE.howShift)
    );
  }

  mayCreate(): boolean {
    return this.#call.name === "creat" || (this.#call.flagBits() & O_CREAT) !== 0;
  }

  #resolve(i: number, pin: Uint8Array): PathArgument | undefined {
    const requested = this.text(i);
    if (requested === undefined) {
      this.#fail(i, pin);
      return undefined;
    }
    const argument = this.#call.call.args[i]!;
    const dirfd = argument.dirfd === undefined ? AT_FDCWD : this.#call.stop.int(argument.dirfd);
    const path = this.#canonical(i, dirfd, requested, pin);
    return {
      argument: argument.name,
      requested,
      path,
      isMemory: () => isMemory(path, pin),
      madeHere: (levels) => birthOf(pin, levels) >= this.#processes.kin.since,
    };
  }

  /** Nothing is made on behalf with a path that cannot be read. NULL in place of the only path may mean a descriptor. */
  #fail(i: number, pin: Uint8Array): void {
    const { stop, shape } = this.#call;
    if (stop.isNull(i) && shape.paths.length === 1) return;
    failPin(pin, stop.has(i) && stop.slotTruncated(i) ? ENAMETOOLONG : EFAULT);
  }

  #canonical(i: number, dirfd: number, requested: string, pin: Uint8Array): string {
    const { stop } = this.#call;
    if (requested === "" && this.#takesEmptyPath()) return holdDescriptor(stop, dirfd, pin).target ?? "";
    const bytes = stop.has(i) ? stop.slotBytes(i) : encodeText(requested);
    return this.reach(dirfd, bytes, this.resolveFlags(i), pin);
  }

  #follows(argument: Argument): boolean {
    const { stop, how } = this.#call;
    return follows(
      argument,
      (k) => stop.uint(k),
      () => howWord(how, 0),
    );
  }

  #takesEmptyPath(): boolean {
    const { call, shape, name } = this.#call;
    if (shape.how >= 0 || call.args[shape.flags]?.flags === "open") return false; // O_DSYNC is the same bit
    return name === "readlinkat" || (this.#call.flagBits() & AT_EMPTY_PATH) !== 0;
  }
}
