import type { CallEvent, FunctionEvent, InstructionEvent } from "../nouns/event.js";
import type { Decision } from "../nouns/verdict.js";
import { allowCommand, entryAgainstRefusal } from "../people/approval/how-to-allow.js";
import { decidedCall } from "../record/audit/decided-call.js";
import { targetOf } from "./targets.js";

/** One refusal, told while the program runs. */
export interface Refusal {
  /** Seconds since 1970. */
  readonly time: number;
  readonly pid: number;
  readonly program: string;
  readonly call: string;
  readonly target?: string;
  readonly action: "deny" | "kill";
  readonly policy: string;
  readonly rule?: string;
  readonly reason?: string;
  /** What a person types to let it happen from the next run on. */
  readonly allow?: string;
  /** How many refusals before this one were not told. */
  readonly leftOut?: number;
}

/** So many at once, and then so many a second: a program that is refused in a loop must not flood the log. */
const MOST_A_SECOND = 20;
const LONGEST = 4096;

/** Tells refusals as they happen. */
export class RefusalLog {
  readonly #tell: (refusal: Refusal) => void;
  readonly #workspace: string;
  readonly #isFixed: (policy: string) => boolean;
  #second = 0;
  #told = 0;
  leftOut = 0;

  /** `workspace`: where commands would be allowed. */
  constructor(tell: (refusal: Refusal) => void, workspace: string, isFixed: (policy: string) => boolean) {
    this.#tell = tell;
    this.#workspace = workspace;
    this.#isFixed = isFixed;
  }

  take(event: CallEvent | FunctionEvent | InstructionEvent, decision: Decision, now = Date.now()): void {
    const { action, policy, rule, reason } = decision;
    if (action !== "deny" && action !== "kill") return;
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#told = 0;
    }
    if (this.#told >= MOST_A_SECOND) {
      this.leftOut++;
      return;
    }
    this.#told++;
    const target = event.kind === "syscall" ? targetOf(event)?.slice(0, LONGEST) : undefined;
    const { leftOut } = this;
    this.leftOut = 0;
    this.#tell({
      time: now / 1000,
      ...callerOf(event),
      call: event.name,
      ...(target !== undefined && { target }),
      action,
      policy,
      ...(rule !== undefined && { rule }),
      ...(reason !== undefined && { reason }),
      ...(event.kind === "syscall" && this.#howToAllow(event, decision)),
      ...(leftOut > 0 && { leftOut }),
    });
  }

  #howToAllow(event: CallEvent, { policy, rule }: Decision): Pick<Refusal, "allow"> {
    try {
      const entry = entryAgainstRefusal({
        call: event.name,
        about: decidedCall(event),
        policy,
        rule,
        fixed: this.#isFixed(policy),
      });
      return entry ? { allow: allowCommand(entry, this.#workspace) } : {};
    } catch {
      return {}; // memory of the program that cannot be read
    }
  }
}

/** A process may be gone already. */
function callerOf({ process }: Pick<CallEvent, "process">): Pick<Refusal, "pid" | "program"> {
  const { pid } = process;
  try {
    return { pid, program: process.exe.slice(process.exe.lastIndexOf("/") + 1) };
  } catch {
    return { pid, program: "" };
  }
}
