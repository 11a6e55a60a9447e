import { refused } from "../approval/questions.js";
import type { InstructionHost } from "../instrument/instruction-hits.js";
import { Instrument } from "../instrument/instrument.js";
import { ANSWER } from "../kernel/layout.js";
import type { Answer } from "../kernel/stop.js";
import type { Mediator } from "../mediate.js";
import { FAULTING } from "../policy/instruction-pattern.js";
import type { Policy } from "../policy/policy.js";
import type { HandlerOptions } from "./handler.js";

/** What looks into programs, and has its events decided and recorded as all others. */
export function lookInside(options: HandlerOptions, mediator: Mediator): Instrument {
  const { memory, stack, processes, questions, onProblem, recorder, prototypes } = options;
  const inside = new Instrument({
    memory,
    stack,
    processes,
    ...(prototypes && { prototypes }),
    host: {
      decide: (event, wishes) => mediator.decideFunction(event, wishes),
      ask: (event, decision) =>
        questions?.askFunction(event, decision) ??
        refused(decision, "needs approval, and there is nobody to ask"),
      withdraw: (id, why) => questions?.withdraw(id, why),
      record: (event, decision) => mediator.recordFunction(event, decision),
      recordReturn: (event, decision) => mediator.recordFunctionReturn(event, decision),
      problem: onProblem,
    },
    instructions: instructionHost(options, mediator),
  });
  if (recorder) inside.calls.watcher = recorder.functions;
  return inside;
}

export function instructionHost(
  { questions, onProblem }: Pick<HandlerOptions, "questions" | "onProblem">,
  mediator: Mediator,
): InstructionHost {
  return {
    decide: (event, wishes) => mediator.decideInstruction(event, wishes),
    ask: (event, decision) =>
      questions?.askInstruction(event, decision) ??
      refused(decision, "needs approval, and there is nobody to ask"),
    withdraw: (id, why) => questions?.withdraw(id, why),
    record: (event, decision) => mediator.recordInstruction(event, decision),
    problem: onProblem,
  };
}

/** A new program whose calls could go unseen does not start. */
export function unhide({ vdso, processes, onProblem }: HandlerOptions, tid: number, answer: Answer): void {
  try {
    vdso?.execed(tid);
  } catch (error) {
    onProblem(`${processes.get(tid).exe} was ended: ${(error as Error).message}`);
    answer.begin(ANSWER.kill);
  }
}

/** Whether a policy is about functions, or about instructions that do not fault by themselves. */
export function wantsInside({ subscription: { functions, instructions } }: Policy): boolean {
  return (functions?.length ?? 0) > 0 || (instructions ?? []).some(({ name }) => !FAULTING.has(name));
}
