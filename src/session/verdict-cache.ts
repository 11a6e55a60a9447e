import { readSync, writeSync } from "node:fs";
import { errnoName, errnoNumber, type Syscall, syscallByName } from "../abi/index.js";
import {
  VERDICT_CACHE,
  VERDICT_CACHE_CLASS_FIELD,
  VERDICT_CACHE_CLASS_SIZE,
  VERDICT_CACHE_FIELD,
  VERDICT_CACHE_SIZE,
} from "../kernel/binding/layout.js";
import { native } from "../kernel/binding/native.js";
import type { StopAnswer } from "../kernel/binding/stop.js";
import type { DecodedCall } from "../kernel/decode/call.js";
import { HermesError } from "../nouns/errors.js";
import { encodeText } from "../nouns/text.js";
import { PathAutomaton } from "../policy/match/automaton.js";
import { compileGlob } from "../policy/match/glob.js";
import type { PolicyStack } from "../policy/stack.js";
import type { CachedCallCounter } from "./summary.js";

const SCHED_GETAFFINITY = syscallByName("sched_getaffinity")!.nr;
const EXECVE = syscallByName("execve")!.nr;
const ENOENT = errnoNumber("ENOENT")!;

/**
 * Compiling all patterns takes as long as deciding some hundred calls: skip it for programs that make fewer.
 */
const ENOUGH = 100;

/** How to find the object of a call: the same for every call with the same number and flags. */
interface Finding {
  /** -1 for a call on a descriptor. */
  readonly pathAt: number;
  /** The path that is NULL, because the call is about its descriptor; -1 for none. */
  readonly nullAt: number;
  /**
   * The index of the argument that holds the path's folder, -1 for the working directory; or of the
   * descriptor.
   */
  readonly dirfdAt: number;
  /** -1 for none. */
  readonly flagsAt: number;
  readonly flags: number;
  /** RESOLVE bits. */
  readonly resolve: number;
}

/** Limits that keep it from being made, in words. */
const WHY_NONE: Readonly<Record<string, string>> = {
  EFBIG: "the limit of file sizes is too small (ulimit -f)",
  EMFILE: "the limit of descriptors is too small (ulimit -n)",
};

/**
 * The verdict cache. If policies read nothing but a call's flags and path (`PolicyStack.cacheScope`), an allowed
 * call is allowed for every path that matches the same patterns. Such verdicts go into a table
 * (native/protocol/verdict-cache.h). With it, the broker answers the next call of the kind without asking: it resolves and
 * pins the path as always, and looks up its real name. The cache holds only plain allows; all other calls
 * come here. The broker maps the table's file; this class keeps its own copy of what it wrote.
 */
export class VerdictCache implements CachedCallCounter {
  /** The table, as a file without a name. */
  readonly file: number;
  readonly #copy = new Uint8Array(VERDICT_CACHE_SIZE);
  readonly #words = new Int32Array(this.#copy.buffer);
  readonly #next = new Uint16Array(
    this.#copy.buffer,
    VERDICT_CACHE_FIELD.next,
    VERDICT_CACHE.states * VERDICT_CACHE.bytes,
  );
  readonly #caches: boolean;
  #stack: PolicyStack;
  #automaton: PathAutomaton | undefined;
  /** Whether verdicts on a call can be cached. */
  readonly #cacheable = new Map<number, boolean>();
  readonly #classes = new Map<string, number>();
  #isClosed = false;
  #seen = 0;
  #told = new Uint32Array(VERDICT_CACHE.classes);
  #toldExecs = 0;

  /**
   * If every call must be seen, `allows` is false and nothing is cached: the broker then only learns how to
   * find paths.
   */
  constructor(stack: PolicyStack, caches: boolean, seesBirths = true) {
    this.#caches = caches;
    this.#stack = stack;
    this.file = native().createVerdictCache();
    if (this.file < 0)
      throw new HermesError("SUPERVISOR", {
        message: `no memory for the verdict cache: ${WHY_NONE[errnoName(-this.file) ?? ""] ?? errnoName(-this.file)}`,
      });
    this.#putWord(VERDICT_CACHE_FIELD.mayShareCpu, Number(seesBirths && stack.wantsEntry(SCHED_GETAFFINITY)));
  }

  /** The counts stay available. */
  close(): void {
    readSync(this.file, this.#copy, 0, VERDICT_CACHE_SIZE, 0);
    native().closeVerdictCache(this.file);
    this.#isClosed = true;
  }

  /** Copies a range of our copy to the table. */
  #write(offset: number, length: number): void {
    if (!this.#isClosed) writeSync(this.file, this.#copy, offset, length, offset);
  }

  #putWord(offset: number, value: number): void {
    this.#words[offset >> 2] = value;
    this.#write(offset, 4);
  }

  /** Disables the cache: every call comes here. */
  suspend(): void {
    this.inForce = false;
  }

  set inForce(yes: boolean) {
    if (this.#caches && this.#words[VERDICT_CACHE_FIELD.inForce >> 2] !== Number(yes))
      this.#putWord(VERDICT_CACHE_FIELD.inForce, Number(yes));
  }

  /** Other policies decide from now on: clears the cache. */
  replaceStack(stack: PolicyStack): void {
    this.suspend();
    // The broker may be opening a file by a cached verdict right now, for any length of time. It checks the
    // generation afterwards.
    const generation = this.#words[VERDICT_CACHE_FIELD.generation >> 2]!;
    this.#putWord(VERDICT_CACHE_FIELD.generation, generation + 1);
    this.#stack = stack;
    this.#automaton = undefined;
    this.#cacheable.clear();
    this.#forget(VERDICT_CACHE_FIELD.next, VERDICT_CACHE_FIELD.undecidedExecs);
    this.#forget(VERDICT_CACHE_FIELD.missing, VERDICT_CACHE_SIZE);
    this.#putWord(VERDICT_CACHE_FIELD.generation, generation + 2);
  }

  #forget(from: number, to: number): void {
    this.#copy.fill(0, from, to);
    this.#write(from, to - from);
  }

  /** A call was decided: the broker resolves the path of the next call of its kind in advance. */
  seen(event: DecodedCall): void {
    const finding = findingOf(event);
    if (finding && finding.pathAt >= 0) this.#classOf(event.nr, finding);
  }

  /** The call was allowed and no policy watches it: caches the verdict for calls of its kind. */
  learn(event: DecodedCall, answer: StopAnswer): void {
    if (!this.#caches) return;
    if (answer.isPlainOnBehalf) this.#learnOnBehalf(event);
    else if (event.nr === EXECVE) this.#learnMissing(event);
  }

  #learnOnBehalf(event: DecodedCall): void {
    if (!this.#isCacheable(event.call) || ++this.#seen < ENOUGH) return;
    const finding = findingOf(event);
    const path = finding?.pathAt === -1 ? event.fd?.target : event.path;
    if (!finding || !path?.startsWith("/")) return;
    this.#automaton ??= this.#makeAutomaton();
    const state = this.#automaton.follow(path);
    const number = state && this.#classOf(event.nr, finding);
    if (number === undefined || state === 0) return;
    const at = VERDICT_CACHE_FIELD.allowed + number * VERDICT_CACHE.states + state;
    if (this.#copy[at] === 1) return;
    this.#copy[at] = 1;
    this.#write(at, 1);
    this.#putWord(classAt(number) + VERDICT_CACHE_CLASS_FIELD.allows, 1);
  }

  /** The file to run does not exist: the broker reports that next time without asking. */
  #learnMissing(event: DecodedCall): void {
    const { requested } = event;
    if (!requested?.startsWith("/") || event.unreachable !== ENOENT || !this.#stack.cachesMissing(EXECVE))
      return;
    const hash = hashOf(encodeText(requested));
    this.#putWord(VERDICT_CACHE_FIELD.missing + (hash % VERDICT_CACHE.missing) * 4, hash);
  }

  /** How many calls the cache answered since the last time, by number. */
  *made(): Iterable<readonly [nr: number, count: number]> {
    const execs = this.#read(VERDICT_CACHE_FIELD.undecidedExecs, 8).readDoubleLE();
    yield [EXECVE, execs - this.#toldExecs];
    this.#toldExecs = execs;
    const counted = this.#read(VERDICT_CACHE_FIELD.classes, VERDICT_CACHE.classes * VERDICT_CACHE_CLASS_SIZE);
    for (const number of this.#classes.values()) {
      const total = counted.readUInt32LE(
        number * VERDICT_CACHE_CLASS_SIZE + VERDICT_CACHE_CLASS_FIELD.answered,
      );
      const nr = counted.readInt32LE(number * VERDICT_CACHE_CLASS_SIZE + VERDICT_CACHE_CLASS_FIELD.nr);
      yield [nr, (total - this.#told[number]!) >>> 0];
      this.#told[number] = total;
    }
  }

  #read(offset: number, length: number): Buffer {
    if (!this.#isClosed) readSync(this.file, this.#copy, offset, length, offset);
    return Buffer.from(this.#copy.buffer, offset, length);
  }

  #isCacheable(call: Syscall): boolean {
    let known = this.#cacheable.get(call.nr);
    if (known === undefined) {
      known = this.#stack.cacheScope(call.nr) !== undefined;
      this.#cacheable.set(call.nr, known);
    }
    return known;
  }

  /** One for all calls: whether a path matches does not depend on the call. */
  #makeAutomaton(): PathAutomaton {
    const all = this.#stack.calls().flatMap((nr) => this.#stack.cacheScope(nr) ?? []);
    const patterns = new Set(all.flatMap((one) => one.patterns));
    const except = new Set(all.flatMap((one) => one.except));
    return new PathAutomaton([...patterns].map(compileGlob), [...except].map(compileGlob), {
      next: this.#next,
      states: VERDICT_CACHE.states,
      width: VERDICT_CACHE.bytes,
      wrote: (at) => this.#write(VERDICT_CACHE_FIELD.next + at * 2, 2),
    });
  }

  /** The class of calls like this one; undefined when there are too many classes. */
  #classOf(nr: number, finding: Finding): number | undefined {
    const key = `${nr} ${finding.flags} ${finding.nullAt}`;
    const known = this.#classes.get(key);
    const number = known ?? this.#classes.size;
    if (known !== undefined || number >= VERDICT_CACHE.classes) return known;
    this.#classes.set(key, number);
    const at = classAt(number) >> 2;
    const put = (field: keyof typeof VERDICT_CACHE_CLASS_FIELD, value: number) => {
      this.#words[at + (VERDICT_CACHE_CLASS_FIELD[field] >> 2)] = value;
    };
    put("nr", nr);
    put("flagsAt", finding.flagsAt);
    put("flags", finding.flags);
    put("dirfdAt", finding.dirfdAt);
    put("pathAt", finding.pathAt);
    put("nullAt", finding.nullAt);
    put("resolve", finding.resolve);
    this.#write(classAt(number), VERDICT_CACHE_CLASS_FIELD.answered); // the broker counts the calls
    this.#putWord(VERDICT_CACHE_FIELD.classCount, this.#classes.size);
    return number;
  }
}

/** Undefined for calls on several paths, or on neither a path nor a descriptor. */
function findingOf(event: DecodedCall): Finding | undefined {
  const { paths, flags, how, fd } = event.shape;
  const [pathAt] = paths;
  const likeIt = { flagsAt: flags, flags: flags < 0 ? 0 : event.stop.uint(flags) };
  if (event.changesDescriptor)
    return { ...likeIt, pathAt: -1, nullAt: pathAt ?? -1, dirfdAt: fd, resolve: 0 };
  if (pathAt === undefined || paths.length > 1 || how >= 0) return undefined;
  const dirfdAt = event.call.args[pathAt]!.dirfd ?? -1;
  return { ...likeIt, pathAt, nullAt: -1, dirfdAt, resolve: event.resolveFlags(pathAt) };
}

function classAt(number: number): number {
  return VERDICT_CACHE_FIELD.classes + number * VERDICT_CACHE_CLASS_SIZE;
}

/** FNV-1a, as in native/fastpath/verdict-lookup.c. */
function hashOf(bytes: Uint8Array): number {
  let hash = 2166136261;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 16777619);
  return hash >>> 0;
}
