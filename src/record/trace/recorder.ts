import { errnoName, SIGNALLING, signalName } from "../../abi/index.js";
import type { DecodedCall } from "../../kernel/decode/call.js";
import { describeDescriptor } from "../../kernel/process/descriptor.js";
import type { ProcessTable } from "../../kernel/process/process-table.js";
import { formatAddress } from "../../nouns/address.js";
import type { Receiver } from "../../nouns/event.js";
import type { RecordedStack } from "../../nouns/inside.js";
import type { Decision } from "../../nouns/verdict.js";
import { FunctionRecorder } from "./function-recorder.js";
import type { CallRecord, FunctionRecord, HeaderRecord, Rendered, TraceRecord } from "./records.js";
import { renderArguments, renderOutputs, renderRegisters } from "./render.js";
import { recordedStack } from "./stack.js";
import type { TraceWriter } from "./writer.js";

/** A call between its entry and its return. */
export interface OpenRecord {
  readonly kind: "syscall";
  readonly time: number;
  readonly pid: number;
  readonly tid: number;
  readonly name: string;
  readonly args: Record<string, Rendered>;
  path?: string;
  paths?: readonly string[];
  addresses?: readonly string[];
  controls?: readonly string[];
  receivers?: readonly Receiver[];
  target?: string;
  action: string;
  policy?: string;
  rule?: string;
  reason?: string;
  version?: string;
  result?: number;
  errno?: string;
  elapsed?: number;
  opened?: string;
  stack?: RecordedStack;
}

interface RecorderOptions {
  readonly writer: TraceWriter;
  readonly processes: ProcessTable;
  /** How many bytes of a buffer go into a record. */
  readonly bytes: number;
  /** Numbers of the calls that are recorded even when nothing was decided on them. */
  readonly observed: ReadonlySet<number>;
  /** A viewer is connected: it hears of function calls before they return. */
  readonly looksOn?: boolean;
  /** Numbers of the calls whose stacks are recorded too. */
  readonly stacks?: ReadonlySet<number>;
}

/** As exact as a clock that is read in two processes can be, and no longer than that. */
const micro = (seconds: number) => Math.round(seconds * 1e6) / 1e6;

/** How many registers are shown of a function without a known prototype. */
const SHOWN_WORDS = 4;

/** Turns events and decisions into trace records. Everything here happens for every call: it must stay cheap. */
export class Recorder {
  readonly #writer: TraceWriter;
  readonly #processes: ProcessTable;
  readonly #bytes: number;
  readonly #observed: ReadonlySet<number>;
  readonly #stacks: ReadonlySet<number> | undefined;
  #version = "";
  readonly functions: FunctionRecorder;

  constructor({ writer, processes, bytes, observed, looksOn, stacks }: RecorderOptions) {
    this.functions = new FunctionRecorder({
      write: (record, isDecision) => writer.write(record, isDecision, record.time),
      ...(looksOn && { enter: (record) => writer.write(record, false, record.record.time) }),
      bytes,
      version: () => this.#version,
    });
    this.#stacks = stacks;
    this.#writer = writer;
    this.#processes = processes;
    this.#bytes = bytes;
    this.#observed = observed;
  }

  get writer(): TraceWriter {
    return this.#writer;
  }

  /** Which policies are in force: every record says it. */
  setVersion(policies: readonly { readonly version: string }[]): void {
    this.#version = policies.map((policy) => policy.version).join("+");
  }

  /** The record of a call that is about to happen, or that was refused; undefined when it is not recorded. */
  open(event: DecodedCall, decision: Decision): OpenRecord | undefined {
    const { action } = decision;
    const isDecision = action !== "allow" || decision.watched;
    if (!isDecision && !this.#observed.has(event.nr)) return undefined;
    const record: OpenRecord = {
      kind: "syscall",
      time: micro(event.time),
      pid: event.process.pid,
      tid: event.tid,
      name: event.name,
      args: renderArguments(event, this.#bytes),
      action,
    };
    this.#addPlaces(record, event);
    const target = event.fd?.target;
    if (target !== undefined) record.target = target;
    if (isDecision) {
      record.policy = decision.policy;
      if (decision.rule !== undefined) record.rule = decision.rule;
      if (decision.reason !== undefined) record.reason = decision.reason;
    }
    if (this.#version !== "") record.version = decision.version || this.#version;
    if (this.#stacks?.has(event.nr) && event.door === "trace") record.stack = recordedStack(event);
    return record;
  }

  #addPlaces(record: OpenRecord, event: DecodedCall): void {
    if (event.shape.paths.length > 0) {
      const { paths } = event;
      if (paths.length > 0) record.path = paths[0]!.path;
      if (paths.length > 1) record.paths = paths.map((each) => each.path);
    }
    if (event.shape.message >= 0) {
      const { addresses } = event;
      if (addresses.length > 0) record.addresses = addresses.map(formatAddress);
      if (event.controls.length > 0) record.controls = event.controls;
    }
    if (SIGNALLING.has(event.name) && event.receivers.length > 0) record.receivers = event.receivers;
  }

  returned(record: OpenRecord, event: DecodedCall): void {
    renderOutputs(event, this.#bytes, record.args);
    const { result, errno } = event;
    record.result = result;
    if (errno !== undefined) record.errno = errno;
    else if (event.call.returns === "fd" && record.path === undefined) this.#opened(record, event);
    record.elapsed = Math.max(0, micro(event.time - record.time));
    this.#write(record);
  }

  /** A call that was recorded by the program itself, and is over: `event` has its registers and its result. */
  observed(event: DecodedCall, pid: number, time: number, elapsed: number | undefined): void {
    if (!this.#observed.has(event.nr)) return;
    const record: OpenRecord = {
      kind: "syscall",
      time: micro(time),
      pid,
      tid: event.tid,
      name: event.name,
      args: renderRegisters(event),
      action: "allow",
    };
    if (this.#version !== "") record.version = this.#version;
    if (elapsed !== undefined) {
      record.elapsed = micro(elapsed);
      record.result = event.result;
      const { errno } = event;
      if (errno !== undefined) record.errno = errno;
    }
    this.#write(record);
  }

  /** A function whose call the program itself recorded: its registers, and nothing of how it ended. */
  observedFunction(tid: number, pid: number, time: number, name: string, values: Uint32Array): void {
    const args: Record<string, string> = {};
    for (let i = 0; i < SHOWN_WORDS; i++)
      args[`arg${i}`] = `0x${(values[2 * i + 1]! * 2 ** 32 + values[2 * i]!).toString(16)}`;
    const record: FunctionRecord = {
      kind: "function",
      time: micro(time),
      pid,
      tid,
      name,
      args,
      action: "allow",
    };
    this.#writer.write(record, false, record.time);
  }

  #opened(record: OpenRecord, { tid, result }: DecodedCall): void {
    const { target } = describeDescriptor(tid, result);
    if (target !== undefined) record.opened = target;
  }

  /** A call that will not return to us: it was refused, it ended its caller, or its return is not subscribed to. */
  finish(record: OpenRecord, result?: number): void {
    if (result !== undefined) record.result = result;
    const errno = result !== undefined && result < 0 && result >= -4095 ? errnoName(-result) : undefined;
    if (errno !== undefined) record.errno = errno;
    this.#write(record);
  }

  #write(record: OpenRecord): void {
    this.#writer.write(record, record.policy !== undefined, record.time);
  }

  forked(time: number, tid: number, child: number): void {
    this.note({ kind: "fork", time: micro(time), tid, child, pid: this.#processes.get(child).pid });
  }

  execed(time: number, tid: number): void {
    this.functions.ended(tid, "exec");
    const { pid, exe, argv } = this.#processes.get(tid);
    this.note({ kind: "exec", time: micro(time), pid, tid, exe, argv });
  }

  exited(time: number, tid: number, { code = 0, signal }: { code?: number; signal?: number }): void {
    this.functions.ended(tid, "exit");
    const end = signal === undefined ? { code } : { signal: signalName(signal) ?? String(signal) };
    this.note({ kind: "exit", time: micro(time), tid, ...end });
  }

  /** Records that must not be dropped, besides the decisions. */
  note(record: Exclude<TraceRecord, HeaderRecord | CallRecord>): void {
    this.#writer.write(record, true, record.time);
  }

  flush(): void {
    this.#writer.flush();
  }

  close(): void {
    this.functions.close();
    this.#writer.close();
  }
}
