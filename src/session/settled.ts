import { readSync, writeSync } from "node:fs";
import { errnoName, errnoNumber, type Syscall, syscallByName } from "../abi/index.js";
import type { DecodedCall } from "../decode/call.js";
import { HermesError } from "../errors.js";
import {
  ANSWER,
  SETTLED,
  SETTLED_CLASS_FIELD,
  SETTLED_CLASS_SIZE,
  SETTLED_FIELD,
  SETTLED_SIZE,
} from "../kernel/layout.js";
import { native } from "../kernel/native.js";
import type { Answer } from "../kernel/stop.js";
import { PathAutomaton } from "../policy/match/automaton.js";
import { compileGlob } from "../policy/match/glob.js";
import type { PolicyStack } from "../policy/stack.js";
import type { Unasked } from "../summary.js";
import { encodeText } from "../text.js";

const SCHED_GETAFFINITY = syscallByName("sched_getaffinity")!.nr;
const EXECVE = syscallByName("execve")!.nr;
const ENOENT = errnoNumber("ENOENT")!;

/** To arrange all patterns takes as long as to decide on some hundred calls: programs that make fewer do without. */
const ENOUGH = 100;

/** How what a call is about is found: the same for every call of that number with the same flags. */
interface Finding {
  /** -1 for a call on a descriptor. */
  readonly pathAt: number;
  /** The argument that holds the folder the path starts from, -1 for the working directory; or the descriptor. */
  readonly dirfdAt: number;
  /** -1 for none. */
  readonly flagsAt: number;
  readonly flags: number;
  /** RESOLVE bits. */
  readonly resolve: number;
}

/**
 * Answers that stand. Where policies look at nothing but a call's flags and its path (`PolicyStack.settles`), one that is
 * allowed is allowed for every path that the same patterns match. Such answers go into a table (native/settled.h), by which
 * the broker answers the next call of the kind without asking: it resolves and holds the path as always, and looks up its
 * real name. Only what is plainly allowed is ever in it; everything else comes here. The broker shares the file that is the
 * table; this class has a copy of what it wrote there.
 */
export class Settled implements Unasked {
  /** The table, as a file that has no name. */
  readonly file: number;
  readonly #copy = new Uint8Array(SETTLED_SIZE);
  readonly #words = new Int32Array(this.#copy.buffer);
  readonly #next = new Uint16Array(this.#copy.buffer, SETTLED_FIELD.next, SETTLED.states * SETTLED.bytes);
  readonly #stands: boolean;
  #stack: PolicyStack;
  #automaton: PathAutomaton | undefined;
  /** Whether answers to a call can stand. */
  readonly #settles = new Map<number, boolean>();
  readonly #classes = new Map<string, number>();
  #isClosed = false;
  #seen = 0;
  #told = new Uint32Array(SETTLED.classes);
  #toldMissed = 0;

  /** Where every call has to be seen, nothing `stands`: the broker then only learns how paths are found. */
  constructor(stack: PolicyStack, stands: boolean) {
    this.#stands = stands;
    this.#stack = stack;
    this.file = native().table();
    if (this.file < 0)
      throw new HermesError("SUPERVISOR", {
        message: `no memory for a table of answers: ${errnoName(-this.file)}`,
      });
    this.#putWord(SETTLED_FIELD.mayPlace, Number(stack.wantsEntry(SCHED_GETAFFINITY)));
  }

  /** What was counted stays known. */
  close(): void {
    readSync(this.file, this.#copy, 0, SETTLED_SIZE, 0);
    native().closeTable(this.file);
    this.#isClosed = true;
  }

  /** What lies there in the copy becomes so in the table. */
  #write(offset: number, length: number): void {
    if (!this.#isClosed) writeSync(this.file, this.#copy, offset, length, offset);
  }

  #putWord(offset: number, value: number): void {
    this.#words[offset >> 2] = value;
    this.#write(offset, 4);
  }

  /** Every call comes here until it is said otherwise. */
  suspend(): void {
    this.inForce = false;
  }

  set inForce(yes: boolean) {
    if (this.#stands && this.#words[SETTLED_FIELD.inForce >> 2] !== Number(yes))
      this.#putWord(SETTLED_FIELD.inForce, Number(yes));
  }

  /** Other policies decide from now on: nothing that stood stands. */
  replaceStack(stack: PolicyStack): void {
    this.suspend();
    // The broker may be opening a file by what stood, for as long as that takes: it will see that it stands no more.
    const generation = this.#words[SETTLED_FIELD.generation >> 2]!;
    this.#putWord(SETTLED_FIELD.generation, generation + 1);
    this.#stack = stack;
    this.#automaton = undefined;
    this.#settles.clear();
    this.#forget(SETTLED_FIELD.next, SETTLED_FIELD.missed);
    this.#forget(SETTLED_FIELD.missing, SETTLED_SIZE);
    this.#putWord(SETTLED_FIELD.generation, generation + 2);
  }

  #forget(from: number, to: number): void {
    this.#copy.fill(0, from, to);
    this.#write(from, to - from);
  }

  /** A call was decided on: the next of its kind comes with what its path reaches. */
  seen(event: DecodedCall): void {
    const finding = findingOf(event);
    if (finding && finding.pathAt >= 0) this.#classOf(event.nr, finding);
  }

  /** The call was allowed, and nobody wants to hear of it: what the next of its kind need not be asked about. */
  learn(event: DecodedCall, answer: Answer): void {
    if (!this.#stands) return;
    if (answer.isPlainAct) this.#learnAct(event);
    else if (event.nr === EXECVE && answer.action === ANSWER.continue) this.#learnMissing(event);
  }

  #learnAct(event: DecodedCall): void {
    if (!this.#isSettled(event.call) || ++this.#seen < ENOUGH) return;
    const finding = findingOf(event);
    const path = finding?.pathAt === -1 ? event.fd?.target : event.path;
    if (!finding || !path?.startsWith("/")) return;
    this.#automaton ??= this.#makeAutomaton();
    const state = this.#automaton.follow(path);
    const number = state && this.#classOf(event.nr, finding);
    if (number === undefined || state === 0) return;
    const at = SETTLED_FIELD.allowed + number * SETTLED.states + state;
    if (this.#copy[at] === 1) return;
    this.#copy[at] = 1;
    this.#write(at, 1);
    this.#putWord(classAt(number) + SETTLED_CLASS_FIELD.stands, 1);
  }

  /** If what it would run is not there, it is said so the next time without asking. */
  #learnMissing(event: DecodedCall): void {
    const { requested } = event;
    if (!requested?.startsWith("/") || event.unreachable !== ENOENT || !this.#stack.toldOnce(EXECVE)) return;
    const hash = hashOf(encodeText(requested));
    this.#putWord(SETTLED_FIELD.missing + (hash % SETTLED.missing) * 4, hash);
  }

  /** How many calls were answered since the last time, by number. */
  *made(): Iterable<readonly [nr: number, count: number]> {
    const missed = this.#read(SETTLED_FIELD.missed, 8).readDoubleLE();
    yield [EXECVE, missed - this.#toldMissed];
    this.#toldMissed = missed;
    const counted = this.#read(SETTLED_FIELD.classes, SETTLED.classes * SETTLED_CLASS_SIZE);
    for (const number of this.#classes.values()) {
      const total = counted.readUInt32LE(number * SETTLED_CLASS_SIZE + SETTLED_CLASS_FIELD.made);
      const nr = counted.readInt32LE(number * SETTLED_CLASS_SIZE + SETTLED_CLASS_FIELD.nr);
      yield [nr, (total - this.#told[number]!) >>> 0];
      this.#told[number] = total;
    }
  }

  #read(offset: number, length: number): Buffer {
    if (!this.#isClosed) readSync(this.file, this.#copy, offset, length, offset);
    return Buffer.from(this.#copy.buffer, offset, length);
  }

  #isSettled(call: Syscall): boolean {
    let known = this.#settles.get(call.nr);
    if (known === undefined) {
      known = this.#stack.settles(call.nr) !== undefined;
      this.#settles.set(call.nr, known);
    }
    return known;
  }

  /** One for all calls: what a path matches does not depend on the call. */
  #makeAutomaton(): PathAutomaton {
    const all = this.#stack.calls().flatMap((nr) => this.#stack.settles(nr) ?? []);
    const patterns = new Set(all.flatMap((one) => one.patterns));
    const except = new Set(all.flatMap((one) => one.except));
    return new PathAutomaton([...patterns].map(compileGlob), [...except].map(compileGlob), {
      next: this.#next,
      states: SETTLED.states,
      width: SETTLED.bytes,
      wrote: (at) => this.#write(SETTLED_FIELD.next + at * 2, 2),
    });
  }

  /** The number of the calls that are like this one; undefined when there are too many kinds. */
  #classOf(nr: number, finding: Finding): number | undefined {
    const key = `${nr} ${finding.flags}`;
    const known = this.#classes.get(key);
    const number = known ?? this.#classes.size;
    if (known !== undefined || number >= SETTLED.classes) return known;
    this.#classes.set(key, number);
    const at = classAt(number) >> 2;
    const put = (field: keyof typeof SETTLED_CLASS_FIELD, value: number) => {
      this.#words[at + (SETTLED_CLASS_FIELD[field] >> 2)] = value;
    };
    put("nr", nr);
    put("flagsAt", finding.flagsAt);
    put("flags", finding.flags);
    put("dirfdAt", finding.dirfdAt);
    put("pathAt", finding.pathAt);
    put("resolve", finding.resolve);
    this.#write(classAt(number), SETTLED_CLASS_FIELD.made); // how many were made the broker counts
    this.#putWord(SETTLED_FIELD.classCount, this.#classes.size);
    return number;
  }
}

/** Undefined for calls on several paths, or on none and no descriptor. */
function findingOf(event: DecodedCall): Finding | undefined {
  const { paths, flags, how, fd, changesDescriptor } = event.shape;
  const [pathAt] = paths;
  const likeIt = { flagsAt: flags, flags: flags < 0 ? 0 : event.stop.uint(flags) };
  if (changesDescriptor) return { ...likeIt, pathAt: -1, dirfdAt: fd, resolve: 0 };
  if (pathAt === undefined || paths.length > 1 || how >= 0) return undefined;
  const dirfdAt = event.call.args[pathAt]!.dirfd ?? -1;
  return { ...likeIt, pathAt, dirfdAt, resolve: event.resolveFlags(pathAt) };
}

function classAt(number: number): number {
  return SETTLED_FIELD.classes + number * SETTLED_CLASS_SIZE;
}

/** FNV-1a, as in native/settled.c. */
function hashOf(bytes: Uint8Array): number {
  let hash = 2166136261;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 16777619);
  return hash >>> 0;
}
