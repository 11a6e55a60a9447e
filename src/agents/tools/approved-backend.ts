import type { Approvals } from "../../people/approval/approvals.js";
import { askThroughQueue } from "../../people/approval/queue-questions.js";
import type { Backend } from "./backend.js";
import type { Ledger } from "./ledger.js";

/** A backend for one call: questions of its commands go to the queue, refusals into the audit. */
export function approvedBackend(
  backend: Backend,
  approvals: Approvals,
  ledger: Ledger,
  toolCall: string,
  asked?: (approval: string) => void,
): Backend {
  const asking = askThroughQueue(approvals, {
    session: ledger.session,
    toolCall,
    ...(asked && { asked: (id) => asked(id) }),
  });
  return {
    name: backend.name,
    close: async () => {},
    async start(order, events) {
      const running = await backend.start(order, {
        ...events,
        question: (question, answer) =>
          asking.question(question, (given) => {
            void ledger.running(toolCall).then(
              () => answer(given),
              () => answer("no"),
            );
          }),
        withdrawn: (id, why) => asking.withdrawn(id, why),
      });
      const result = running.result.then(async (ended) => {
        await ledger.decided(ended.policies, order.deed);
        await ledger.refused(toolCall, ended.refusals);
        return ended;
      });
      result.catch(() => {});
      return {
        pid: running.pid,
        result,
        write: (bytes) => running.write(bytes),
        closeInput: () => running.closeInput(),
        resize: (columns, rows) => running.resize(columns, rows),
        signal: (name) => running.signal(name),
        kill: () => running.kill(),
      };
    },
  };
}
