import { errnoName, signalName } from "../abi/index.js";
import { formatAddress } from "../address.js";
import type { DecodedCall } from "../decode/call.js";
import type { HermesError } from "../errors.js";
import type { ProcessTable } from "../process/table.js";
import type { Decision } from "../verdict.js";
import type { Rendered } from "./records.js";
import { renderArguments, renderOutputs } from "./render.js";
import type { TraceWriter } from "./writer.js";

/** A call between its entry and its return. */
export interface OpenRecord {
  kind: "syscall";
  time: number;
  pid: number;
  tid: number;
  name: string;
  args: Record<string, Rendered>;
  path?: string;
  paths?: readonly string[];
  addresses?: readonly string[];
  target?: string;
  action: string;
  policy?: string;
  rule?: string;
  reason?: string;
  version?: string;
  result?: number;
  errno?: string;
  elapsed?: number;
}

export interface RecorderOptions {
  readonly writer: TraceWriter;
  readonly processes: ProcessTable;
  /** How many bytes of a buffer go into a record. */
  readonly bytes: number;
  /** Called once when writing fails; recording has ended then. */
  readonly onError: (error: HermesError) => void;
}

/** Turns events and decisions into trace records. */
export class Recorder {
  readonly #options: RecorderOptions;
  #broken = false;
  #version = "";

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  get lines(): number {
    return this.#options.writer.lines;
  }

  /** Which policies are in force: every record says it. */
  setVersion(policies: readonly { readonly version: string }[]): void {
    this.#version = policies.map((policy) => policy.version).join("+");
  }

  /** The record of a call that is about to happen, or that was refused. */
  open(event: DecodedCall, decision: Decision): OpenRecord {
    const fd = event.fd?.target;
    const { path, paths } = event;
    const addresses = event.name.startsWith("sendm") ? event.addresses : [];
    return {
      kind: "syscall",
      time: event.time,
      pid: event.process.pid,
      tid: event.tid,
      name: event.name,
      args: renderArguments(event, this.#options.bytes),
      ...(path !== undefined && { path }),
      ...(paths.length > 1 && { paths: paths.map((each) => each.path) }),
      ...(addresses.length > 0 && { addresses: addresses.map(formatAddress) }),
      ...(fd !== undefined && { target: fd }),
      action: decision.action,
      ...((decision.action !== "allow" || decision.watched) && {
        policy: decision.policy,
        ...(decision.rule !== undefined && { rule: decision.rule }),
        ...(decision.reason !== undefined && { reason: decision.reason }),
      }),
      ...(this.#version !== "" && { version: decision.version || this.#version }),
    };
  }

  returned(record: OpenRecord, event: DecodedCall): void {
    Object.assign(record.args, renderOutputs(event, this.#options.bytes));
    record.result = event.result;
    const { errno } = event;
    if (errno !== undefined) record.errno = errno;
    record.elapsed = Math.max(0, Math.round((event.time - record.time) * 1e9) / 1e9);
    this.write(record);
  }

  /** A call that will not return to us: it was refused, it ended its caller, or nobody waited for it. */
  settled(record: OpenRecord, result?: number): void {
    if (result !== undefined) record.result = result;
    const errno = result !== undefined && result < 0 && result >= -4095 ? errnoName(-result) : undefined;
    if (errno !== undefined) record.errno = errno;
    this.write(record);
  }

  forked(time: number, tid: number, child: number): void {
    this.write({ kind: "fork", time, tid, child });
  }

  execed(time: number, tid: number): void {
    const { pid, exe, argv } = this.#options.processes.get(tid);
    this.write({ kind: "exec", time, pid, tid, exe, argv });
  }

  exited(time: number, tid: number, status: { code?: number; signal?: number }): void {
    const signal = status.signal === undefined ? {} : { signal: signalName(status.signal) };
    this.write({ kind: "exit", time, tid, ...status, ...signal });
  }

  write(record: object): void {
    this.#guarded(() => this.#options.writer.write(record));
  }

  flush(): void {
    this.#guarded(() => this.#options.writer.flush());
  }

  close(): void {
    this.#guarded(() => this.#options.writer.close());
  }

  #guarded(act: () => void): void {
    if (this.#broken) return;
    try {
      act();
    } catch (error) {
      this.#broken = true;
      this.#options.onError(error as HermesError);
    }
  }
}
