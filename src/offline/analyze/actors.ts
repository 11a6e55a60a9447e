import type { TraceRecord } from "../../record/trace/records.js";
import { ProcessHistory, type TracedProcess } from "./processes.js";

/** Whom each record of a trace is about: who called, forked, executed a program or ended. Takes them in order. */
export class RecordActors {
  readonly #processes = new ProcessHistory();
  /** By thread. */
  readonly #processOf = new Map<number, number>();

  get all(): readonly TracedProcess[] {
    return this.#processes.all;
  }

  of(record: TraceRecord): TracedProcess | undefined {
    switch (record.kind) {
      case "syscall":
      case "function":
        this.#processOf.set(record.tid, record.pid);
        return this.#processes.of(record);
      case "exec":
        this.#processOf.set(record.tid, record.pid);
        this.#processes.execed(record);
        return this.#processes.of(record);
      case "fork":
        this.#processes.forked(record);
        this.#processOf.set(record.child, record.pid ?? record.child);
        return this.#ofThread(record);
      case "exit": {
        const process = this.#ofThread(record);
        this.#processes.exited(record);
        this.#processOf.delete(record.tid);
        return process;
      }
      default:
        return undefined;
    }
  }

  #ofThread({ tid, time }: { tid: number; time: number }): TracedProcess {
    return this.#processes.of({ tid, pid: this.#processOf.get(tid) ?? tid, time });
  }
}
