import { errnoName } from "../abi/index.js";
import { DOOR, KIND } from "../kernel/layout.js";
import { StoppedThread } from "./inside.js";

/** What the registers of a stopped call say, as they are. */
export abstract class StoppedCall extends StoppedThread {
  get tid(): number {
    return this.stop.tid;
  }
  get time(): number {
    return this.stop.time;
  }
  get door(): "notify" | "trace" {
    return this.stop.door === DOOR.notify ? "notify" : "trace";
  }
  argument(i: number): bigint {
    return this.stop.exact(i);
  }
  get result(): number {
    return this.stop.result;
  }
  get errno(): string | undefined {
    const { result } = this;
    return this.stop.kind === KIND.return && result < 0 && result >= -4095 ? errnoName(-result) : undefined;
  }
  get resultExact(): bigint {
    return this.stop.resultExact;
  }
}
