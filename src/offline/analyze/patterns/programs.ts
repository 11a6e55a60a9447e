import type { CallRecord } from "../../../record/trace/records.js";
import { processName, type TracedProcess } from "../processes.js";
import { habitOf, weighed } from "./habits.js";
import {
  type BehaviourPattern,
  BoundedMap,
  type CallEvidence,
  type EffectStep,
  evidence,
  MAX_FINDINGS,
  type PatternFinding,
} from "./pattern.js";

const MAX_FILES = 100_000;
const RUNS = new Set(["execve", "execveat"]);

/** A file that the session itself has written is run, or loaded as code. */
export class WriteThenExec implements BehaviourPattern {
  readonly #written = new BoundedMap<
    string,
    { proof: CallEvidence; writer: TracedProcess; downloaded: boolean }
  >(MAX_FILES);
  readonly #received = new Set<number>();
  readonly #found = new Map<string, PatternFinding>();

  call({ name, target }: CallRecord, process: TracedProcess): void {
    if (this.#received.size < MAX_FILES && (name === "recvfrom" || name === "recvmsg" || name === "read"))
      if (target?.startsWith("socket:")) this.#received.add(process.id);
  }

  step({ effect, record, process, failed }: EffectStep): void {
    const { does, path } = effect;
    if (path === undefined || failed) return;
    if (does.includes("exec") || does.includes("load"))
      this.#runs(record, process, path, does.includes("exec"));
    else if (does.includes("create") || (does[0] === "write" && record.name.startsWith("open"))) {
      const moved = record.name.startsWith("rename") ? this.#written.get(record.path ?? "") : undefined;
      this.#written.set(
        path,
        moved ?? {
          proof: evidence(record, process),
          writer: process,
          downloaded: this.#received.has(process.id),
        },
      );
    }
  }

  #runs(record: CallRecord, process: TracedProcess, path: string, executed: boolean): void {
    const written = this.#written.get(path);
    if (!written || this.#found.has(path) || this.#found.size >= MAX_FINDINGS) return;
    const { proof, writer, downloaded } = written;
    const finding: PatternFinding = {
      pattern: downloaded ? "download-then-exec" : "write-then-exec",
      severity: downloaded ? "alert" : "warning",
      title: `${path} was written by ${proof.program}${downloaded ? ", which had received data from the network," : ""} and then ${executed ? "run" : "loaded as code"}`,
      evidence: [proof, evidence(record, process)],
    };
    this.#found.set(path, weighed(finding, habitOf(finding.pattern, writer)));
  }

  findings(): readonly PatternFinding[] {
    return [...this.#found.values()];
  }
}

/** A program removes its own file: what ran cannot be looked at afterwards. */
export class SelfDeletion implements BehaviourPattern {
  readonly #found = new Map<string, PatternFinding>();
  readonly #executed = new BoundedMap<string, CallEvidence>(MAX_FILES);

  step({ effect, record, process, failed }: EffectStep): void {
    const { does, path } = effect;
    if (path === undefined || failed) return;
    if (RUNS.has(record.name)) this.#executed.set(path, evidence(record, process));
    else if (does[0] === "delete" && this.#found.size < MAX_FINDINGS) {
      const own = path === process.exe || process.argv.slice(0, 2).some((word) => word === path);
      const started = this.#executed.get(path);
      if (!own && !started) return;
      this.#found.set(path, {
        pattern: "self-deletion",
        severity: own ? "alert" : "warning",
        title: own
          ? `${processName(process)} deleted its own file ${path}`
          : `${processName(process)} deleted ${path}, which had been run`,
        evidence: [...(started ? [started] : []), evidence(record, process)],
      });
    }
  }

  findings(): readonly PatternFinding[] {
    return [...this.#found.values()];
  }
}

const UNUSUAL = /^\/(tmp|var\/tmp|dev\/shm|run\/shm)\/|^\/memfd:/;

/** Programs that run from world-writable folders, or from memory alone. */
export class UnusualPlace implements BehaviourPattern {
  readonly #found = new Map<string, PatternFinding>();

  step({ effect, record, process, failed }: EffectStep): void {
    const { does, path } = effect;
    if (failed || path === undefined || !does.includes("exec") || !UNUSUAL.test(path)) return;
    if (this.#found.has(path) || this.#found.size >= MAX_FINDINGS) return;
    const inMemory = path.startsWith("/memfd:");
    this.#found.set(path, {
      pattern: inMemory ? "exec-from-memory" : "exec-from-temporary-folder",
      severity: inMemory ? "alert" : "notice",
      title: inMemory ? `${path} ran without ever being a file` : `${path} ran from a world-writable folder`,
      evidence: [evidence(record, process)],
    });
  }

  findings(): readonly PatternFinding[] {
    return [...this.#found.values()];
  }
}

const SHELL = /^(ba|da|z|k|c|tc|fi|a)?sh$|^busybox$|^(python|perl|ruby|php|lua|node)[\d.]*$/;

/** A shell whose input or output is a socket: a remote user types. */
export class RemoteShell implements BehaviourPattern {
  readonly #redirected = new BoundedMap<number, CallEvidence>(10_000);
  readonly #found: PatternFinding[] = [];

  call(record: CallRecord, process: TracedProcess): void {
    const { name, args, target } = record;
    if (name !== "dup2" && name !== "dup3") return;
    const onto = args.newfd;
    if (typeof onto === "number" && onto <= 2 && target?.startsWith("socket:"))
      this.#redirected.set(process.id, evidence(record, process));
  }

  step({ effect, record, process, failed }: EffectStep): void {
    const { does, path } = effect;
    if (failed || path === undefined || !does.includes("exec")) return;
    const proof =
      this.#redirected.get(process.id) ?? (process.parent && this.#redirected.get(process.parent.id));
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (!proof || !SHELL.test(name) || this.#found.length >= MAX_FINDINGS) return;
    this.#found.push({
      pattern: "remote-shell",
      severity: "alert",
      title: `${name} was started with a socket as its input or output`,
      evidence: [proof, evidence(record, process)],
    });
  }

  findings(): readonly PatternFinding[] {
    return this.#found;
  }
}
