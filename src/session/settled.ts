import { errnoNumber, type Syscall, syscallByName } from "../abi/index.js";
import type { DecodedCall } from "../decode/call.js";
import {
  ANSWER,
  SETTLED,
  SETTLED_CLASS_FIELD,
  SETTLED_CLASS_SIZE,
  SETTLED_FIELD,
  SETTLED_SIZE,
} from "../kernel/layout.js";
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
 * native/settled.c answers the next call of the kind without waking this thread: it resolves and holds the path as always,
 * and looks up its real name. Only what is plainly allowed is ever in it; everything else comes here.
 */
export class Settled implements Unasked {
  readonly memory = new SharedArrayBuffer(SETTLED_SIZE);
  readonly #words = new Int32Array(this.memory);
  readonly #next = new Uint16Array(this.memory, SETTLED_FIELD.next, SETTLED.states * SETTLED.bytes);
  readonly #allowed = new Uint8Array(this.memory, SETTLED_FIELD.allowed);
  readonly #missed = new Float64Array(this.memory, SETTLED_FIELD.missed, 1);
  readonly #missing = new Uint32Array(this.memory, SETTLED_FIELD.missing);
  #stack: PolicyStack;
  #automaton: PathAutomaton | undefined;
  /** Whether answers to a call can stand. */
  readonly #settles = new Map<number, boolean>();
  readonly #classes = new Map<string, number>();
  #seen = 0;
  #told = new Uint32Array(SETTLED.classes);
  #toldMissed = 0;

  constructor(stack: PolicyStack) {
    this.#stack = stack;
    this.#words[SETTLED_FIELD.mayPlace >> 2] = Number(stack.wantsEntry(SCHED_GETAFFINITY));
  }

  /** Every call comes here until it is said otherwise. */
  suspend(): void {
    this.inForce = false;
  }

  set inForce(yes: boolean) {
    Atomics.store(this.#words, SETTLED_FIELD.inForce >> 2, Number(yes));
  }

  /** Other policies decide from now on: nothing that stood stands. */
  replaceStack(stack: PolicyStack): void {
    this.suspend();
    // A clerk may be opening a file by what stood, for as long as that takes: it will see that it stands no more.
    Atomics.add(this.#words, SETTLED_FIELD.generation >> 2, 1);
    this.#stack = stack;
    this.#automaton = undefined;
    this.#settles.clear();
    this.#next.fill(0);
    this.#allowed.fill(0);
    this.#missing.fill(0);
    Atomics.add(this.#words, SETTLED_FIELD.generation >> 2, 1);
  }

  /** The call was allowed, and nobody wants to hear of it: what the next of its kind need not be asked about. */
  learn(event: DecodedCall, answer: Answer): void {
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
    if (number !== undefined && state !== 0) this.#allowed[number * SETTLED.states + state] = 1;
  }

  /** If what it would run is not there, it is said so the next time without asking. */
  #learnMissing(event: DecodedCall): void {
    const { requested } = event;
    if (!requested?.startsWith("/") || event.unreachable !== ENOENT || !this.#stack.toldOnce(EXECVE)) return;
    const hash = hashOf(encodeText(requested));
    this.#missing[hash % SETTLED.missing] = hash;
  }

  /** How many calls were answered since the last time, by number. */
  *made(): Iterable<readonly [nr: number, count: number]> {
    const missed = this.#missed[0]!;
    yield [EXECVE, missed - this.#toldMissed];
    this.#toldMissed = missed;
    for (const number of this.#classes.values()) {
      const at = classAt(number);
      const total = this.#words[(at + SETTLED_CLASS_FIELD.made) >> 2]!;
      yield [this.#words[(at + SETTLED_CLASS_FIELD.nr) >> 2]!, (total - this.#told[number]!) >>> 0];
      this.#told[number] = total;
    }
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
    Atomics.store(this.#words, SETTLED_FIELD.classCount >> 2, this.#classes.size);
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
