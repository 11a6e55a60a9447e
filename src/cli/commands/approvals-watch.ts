import { isatty } from "node:tty";
import type { AnswerService } from "../../people/approval/answer-service.js";
import { itemOf } from "../../people/approval/approval-item.js";
import type { ApprovalRow, Store } from "../../record/store/store.js";
import { hasTerminal } from "../run/terminal.js";
import { TerminalApprover } from "../run/terminal-approver.js";
import { itemLines } from "../views/approval.js";
import { print } from "../views/output.js";

/** Shows questions and their answers until it is interrupted; on a terminal it also asks. */
export async function watch(
  { store, desk }: { store: Store; desk: AnswerService },
  json: boolean,
): Promise<number> {
  const asks = !json && isatty(1) && hasTerminal();
  const approver = asks ? new TerminalApprover() : undefined;
  const open = new Map<string, ApprovalRow>();
  const show = (row: ApprovalRow) =>
    print(json ? `${JSON.stringify(itemOf(row))}\n` : itemLines(itemOf(row)));

  const look = async () => {
    await desk.sweep();
    for (const row of await store.approvals({ state: ["pending"] })) {
      if (open.has(row.id)) continue;
      open.set(row.id, row);
      if (approver) approver.ask(itemOf(row), (given) => desk.answer(row.id, given));
      else show(row);
    }
    for (const id of open.keys()) {
      const row = await store.approval(id);
      if (row?.state === "pending") continue;
      open.delete(id);
      if (approver)
        approver.withdraw(
          id,
          row?.answeredBy ? `${row.state} by ${row.answeredBy}` : "it is not in the store any more",
        );
      else if (row) show(row);
    }
  };

  return new Promise((resolve, reject) => {
    let turn = Promise.resolve();
    const soon = () => {
      turn = turn.then(look).catch(end);
    };
    const stop = store.onApprovals(soon);
    const clock = setInterval(soon, SWEEP_MS);
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => end());
    soon();

    function end(error?: unknown): void {
      stop();
      clearInterval(clock);
      approver?.close();
      if (error === undefined) void turn.then(() => resolve(0));
      else reject(error);
    }
  });
}

const SWEEP_MS = 1000;
