import type { Queue } from "../approval/queue.js";
import type { Audit } from "../audit/audit.js";
import type { Backend, RunEvents, RunOrder } from "./backend.js";

export interface Attendance {
  readonly approvals: Queue;
  readonly audit: Audit;
  readonly session: string;
  readonly toolCall: string;
  readonly signal: AbortSignal;
}

/** A backend for one call: what is asked while a command runs goes to the approvals, what was refused into the audit. */
export function attended(backend: Backend, { audit, session, toolCall }: Attendance): Backend {
  return {
    name: backend.name,
    close: async () => {},
    async start(order: RunOrder, events: RunEvents = {}) {
      const running = await backend.start(order, events);
      const result = running.result.then(async (ended) => {
        for (const { what, call, reason, rule, policy, version, times } of ended.refusals)
          await audit.record(
            "deed",
            { toolCall, call: { name: call }, what, action: "deny", reason, rule, policy, version, times },
            { session },
          );
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
