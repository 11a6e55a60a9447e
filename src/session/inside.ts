import { refused } from "../approval/questions.js";
import { Instrument } from "../instrument/instrument.js";
import type { Mediator } from "../mediate.js";
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
  });
  if (recorder) inside.calls.watcher = recorder.functions;
  return inside;
}
