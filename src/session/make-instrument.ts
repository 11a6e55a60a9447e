import { withoutApprover } from "../people/approval/questions.js";
import { FAULTING } from "../policy/instruction-pattern.js";
import type { Policy } from "../policy/policy.js";
import type { PolicyStack } from "../policy/stack.js";
import type { InstructionHost } from "./instrument/instruction-hits.js";
import { Instrument } from "./instrument/instrument.js";
import type { MediatorOptions } from "./mediate.js";

/** Watches inside programs, and has the events decided and recorded like all others. */
export function makeInstrument(options: MediatorOptions, policies: () => PolicyStack): Instrument {
  const { memory, stack, processes, summary, questions, onProblem, recorder, prototypes } = options;
  const inside = new Instrument({
    memory,
    stack,
    processes,
    ...(prototypes && { prototypes }),
    host: {
      decide: (event, subscribers) => policies().decideFunction(event, subscribers),
      ask: (event, decision) => questions?.askFunction(event, decision) ?? withoutApprover(decision),
      withdraw: (id, why) => questions?.withdraw(id, why),
      record: (event, decision) => summary.countInside(event, decision),
      recordReturn: (event, decision) => summary.countReturn(event.name, decision),
      problem: onProblem,
    },
    instructions: instructionHost(options, policies),
  });
  if (recorder) inside.calls.watcher = recorder.functions;
  return inside;
}

export function instructionHost(
  { summary, questions, onProblem }: Pick<MediatorOptions, "summary" | "questions" | "onProblem">,
  policies: () => PolicyStack,
): InstructionHost {
  return {
    decide: (event, subscribers) => policies().decideInstruction(event, subscribers),
    ask: (event, decision) => questions?.askInstruction(event, decision) ?? withoutApprover(decision),
    withdraw: (id, why) => questions?.withdraw(id, why),
    record: (event, decision) => summary.countInside(event, decision),
    problem: onProblem,
  };
}

/** True when a policy watches functions, or instructions that do not fault by themselves. */
export function needsInstrument({ subscription: { functions, instructions } }: Policy): boolean {
  return (functions?.length ?? 0) > 0 || (instructions ?? []).some(({ name }) => !FAULTING.has(name));
}
