import { errnoName } from "../../abi/index.js";
import { CallReader, type Prototype, Renderer, type Shown } from "../../binary/prototypes/index.js";
import type { FunctionEvent, FunctionReturnEvent } from "../../nouns/event.js";
import { frameText } from "../../nouns/inside.js";
import type { Decision } from "../../nouns/verdict.js";
import type { FunctionRecord } from "./records.js";
import type { EnterRecord } from "./strace-encoder.js";

/** An event with fields that policies do not see. */
interface FunctionToRecord extends FunctionEvent {
  /** It is recorded even when nothing was decided on it. */
  readonly isObserved: boolean;
  /** Where its return address lies. */
  readonly stackPointer: number;
  /** Reads it by its prototype, where one is known: at most so many bytes of each text. */
  readCall(limit: number): CallReader | undefined;
}

interface RecordedReturn extends FunctionReturnEvent {
  readCall(limit: number): CallReader | undefined;
}

/** The thread's errno, where it can be found. */
type Errno = () => number | undefined;

/** A call between its entry and its return. */
type OpenRecord = { -readonly [K in keyof FunctionRecord]: FunctionRecord[K] };

interface OpenFunction {
  readonly record: OpenRecord;
  readonly renderer: Renderer;
  readonly prototype: Prototype | undefined;
  readonly sp: number;
  readonly returnsTo: bigint;
  /** Its first arguments as they were, where it puts something out. */
  readonly words: readonly bigint[] | undefined;
}

interface FunctionRecorderOptions {
  write(record: FunctionRecord, isDecision: boolean): void;
  /** Hears of calls before they return, while a viewer is connected. */
  readonly enter?: (record: EnterRecord) => void;
  readonly bytes: number;
  version(): string;
}

/** Calls that one thread may have open; beyond it the outermost are given up. */
const MAX_OPEN = 4096;
/** What is shown of a function without a prototype. */
const UNKNOWN_ARGUMENTS = 4;

const micro = (seconds: number) => Math.round(seconds * 1e6) / 1e6;

/** Turns calls of functions into records: one for each, when it is over. */
export class FunctionRecorder {
  readonly #o: FunctionRecorderOptions;
  /** By thread, the outermost first. */
  readonly #open = new Map<number, OpenFunction[]>();

  constructor(options: FunctionRecorderOptions) {
    this.#o = options;
  }

  /** A call that was decided on; it will run, unless `runs` is false. What is given back comes along with its return. */
  called(event: FunctionToRecord, decision: Decision, runs: boolean): OpenFunction | undefined {
    const isDecision = decision.action !== "allow" || decision.watched === true;
    if (!isDecision && !event.isObserved) return undefined;
    const { tid, stackPointer: sp } = event;
    const { caller } = event;
    const open = this.#enclosing(event, caller.address);
    const reader = event.readCall(this.#o.bytes);
    const renderer = new Renderer();
    const record: OpenRecord = {
      kind: "function",
      time: micro(event.time),
      pid: event.process.pid,
      tid,
      name: event.name,
      args: reader ? argumentsOf(renderer, reader) : rawWords(event),
      action: decision.action,
    };
    if (open.length > 0) record.depth = open.length;
    if (caller.address !== 0n) record.caller = frameText({ ...caller, symbolOffset: undefined });
    if (isDecision) {
      record.policy = decision.policy;
      if (decision.rule !== undefined) record.rule = decision.rule;
      if (decision.reason !== undefined) record.reason = decision.reason;
    }
    const version = decision.version || this.#o.version();
    if (version !== "") record.version = version;
    const known = knownOf(reader?.prototype);
    const words = runs && known < 6 ? Array.from({ length: 6 }, (_, i) => event.argument(i)) : undefined;
    const made = { record, renderer, prototype: reader?.prototype, sp, returnsTo: caller.address, words };
    if (!runs) this.#write(made);
    else {
      if (renderer.texts.length > 0) record.texts = [...renderer.texts];
      this.#o.enter?.({ kind: "enter", record, known });
      open.push(made);
      if (open.length > MAX_OPEN) open.shift();
    }
    return made;
  }

  /** The calls that this one is made within. Calls deeper on the stack ended without a return. */
  #enclosing(event: FunctionToRecord, returnsTo: bigint): OpenFunction[] {
    const { tid, name, stackPointer: sp } = event;
    let open = this.#open.get(tid);
    if (!open) {
      open = [];
      this.#open.set(tid, open);
    }
    while (open.length > 0) {
      const last = open.at(-1)!;
      // Of two with the same return address the first has jumped to the second, which will return for both.
      const hasJumped = last.sp === sp && last.returnsTo === returnsTo && last.record.name !== name;
      if (last.sp > sp || hasJumped) break;
      this.#leave(open.pop()!, "jump");
    }
    return open;
  }

  /** With the event as the function left it, and a way to its thread's errno. */
  returned(event: RecordedReturn, made: OpenFunction, errno: Errno): void {
    const open = this.#open.get(event.tid) ?? [];
    if (!open.includes(made)) return;
    while (open.at(-1) !== made) this.#leave(open.pop()!, "jump");
    open.pop();
    const reader = event.readCall(this.#o.bytes);
    if (reader) outputsOf(made.renderer, reader, made.record);
    this.#finish(made, event, reader, errno);
    while (open.at(-1)?.sp === made.sp) {
      const outer = open.pop()!;
      const its = resultReader(outer, event, this.#o.bytes);
      if (its && outer.words) outputsOf(outer.renderer, its, outer.record);
      this.#finish(outer, event, its, errno);
    }
  }

  #finish(made: OpenFunction, event: RecordedReturn, reader: CallReader | undefined, errno: Errno): void {
    const { record, renderer } = made;
    if (reader) {
      const result = renderer.result(reader);
      if (result !== undefined) record.result = result;
      this.#failure(record, reader, errno);
    } else record.result = signed(event.resultExact);
    record.elapsed = Math.max(0, micro(event.time - record.time));
    this.#write(made);
  }

  #failure(record: OpenRecord, reader: CallReader, errno: Errno): void {
    if (!reader.isFailure) return;
    record.failed = true;
    const number = reader.prototype.fails?.errno ? (reader.errno ?? errno()) : undefined;
    const name = number === undefined || number === 0 ? undefined : errnoName(number);
    if (name !== undefined) record.errno = name;
  }

  #leave(made: OpenFunction, left: NonNullable<FunctionRecord["left"]>): void {
    made.record.left = left;
    this.#write(made);
  }

  #write({ record, renderer }: OpenFunction): void {
    if (renderer.texts.length > 0) record.texts = [...new Set(renderer.texts)];
    this.#o.write(record, record.policy !== undefined);
  }

  /** The thread has exited, or it runs another program. */
  ended(tid: number, left: "exit" | "exec"): void {
    const open = this.#open.get(tid) ?? [];
    this.#open.delete(tid);
    for (const made of open.reverse()) this.#leave(made, left);
  }

  close(): void {
    for (const tid of [...this.#open.keys()]) this.ended(tid, "exit");
  }
}

function argumentsOf(renderer: Renderer, reader: CallReader): Record<string, Shown> {
  const args = renderer.arguments(reader, () => true);
  renderer.more(reader, args);
  return args;
}

/** Adds what the call put out. */
function outputsOf(renderer: Renderer, reader: CallReader, record: OpenRecord): void {
  const args = renderer.arguments(reader, ({ direction }) => direction === "out" || direction === "inout", {
    ...record.args,
  });
  if (reader.prototype.more === "scanf" || reader.prototype.choices) renderer.more(reader, args);
  record.args = args;
}

/** How many arguments are as they will be: up to the first that the function fills in. */
function knownOf(prototype: Prototype | undefined): number {
  if (!prototype) return Number.POSITIVE_INFINITY;
  const { parameters, choices, more } = prototype;
  const first = parameters.findIndex(({ direction }) => direction === "out" || direction === "inout");
  if (first >= 0) return first;
  return choices || more === "scanf" ? parameters.length : Number.POSITIVE_INFINITY;
}

function rawWords(event: FunctionEvent): Record<string, Shown> {
  return Object.fromEntries(
    Array.from({ length: UNKNOWN_ARGUMENTS }, (_, i) => [String(i), `0x${event.argument(i).toString(16)}`]),
  );
}

function signed(word: bigint): Shown {
  const value = BigInt.asIntN(64, word);
  return value >= -4096n && value <= 0xffffffffn ? Number(value) : `0x${word.toString(16)}`;
}

/** Of a function that jumped to another, which returned for it. */
function resultReader(
  { prototype, words }: OpenFunction,
  event: RecordedReturn,
  limit: number,
): CallReader | undefined {
  if (!prototype) return undefined;
  const bits = Buffer.alloc(8);
  bits.writeDoubleLE(prototype.result.type.kind === "float" ? event.resultFloat : 0);
  const frame = {
    word: (i: number) => words?.[i] ?? 0n,
    vector: () => 0n,
    read: (at: bigint, n: number) => event.memory.read(at, n),
  };
  return new CallReader(prototype, frame, limit, {
    words: [event.resultExact, 0n],
    vectors: [bits.readBigUInt64LE(), 0n],
  });
}
