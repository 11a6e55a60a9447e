import { createHash, randomBytes } from "node:crypto";
import type { Approver } from "../approval/approver.js";
import { Desk } from "../approval/desk.js";
import { approvalOf } from "../approval/item.js";
import { Audit } from "../audit/audit.js";
import { HermesError } from "../errors.js";
import type { Finding } from "../guard/finding.js";
import type { Store } from "../store/store.js";

/** So long the agent's user may think about it. */
const PATIENCE_MS = 30 * 60_000;

export interface AgentQuestion {
  readonly session: string;
  readonly command: string;
  readonly workspace: string;
  readonly findings: readonly Finding[];
}

/**
 * A question that an agent asks its own user, who answers there: the agent runs what we gave it only after a yes. What it
 * runs names this question, which holds for that command in that workspace, once. `hermes approvals` can answer it too.
 */
export async function parkQuestion(store: Store, audit: Audit, question: AgentQuestion): Promise<string> {
  const { session, command, findings } = question;
  const id = randomBytes(16).toString("hex");
  const digest = digestOf(question);
  const now = Date.now();
  const request = { kind: "TOOL_CALL", session, what: command, digest, findings } as const;
  const row = approvalOf(request, id, now, now + PATIENCE_MS);
  await store.park(row);
  const { kind, what, keys, expires } = row;
  await audit.record(
    "approval-asked",
    { id, kind, what, digest, expires, keys: JSON.parse(keys) as string[] },
    { session },
  );
  return id;
}

/** The agent's user has said yes, for this command: an approver that passes it on. Throws when there is no such yes. */
export async function takeAnswer(
  store: Store,
  id: string,
  asked: Pick<AgentQuestion, "command" | "workspace">,
): Promise<Approver> {
  const row = await store.approval(id);
  if (!row || row.digest !== digestOf(asked))
    throw new HermesError("APPROVAL", { id, message: "nobody was asked about this command here" });
  const audit = Audit.open(store);
  const by = `${row.session.split(":")[0]}:user`;
  try {
    await new Desk({ store, audit }).answer(id, { answer: "once", by });
  } finally {
    audit.close();
  }
  const { state } = (await store.approval(id))!;
  if (state !== "granted") throw new HermesError("APPROVAL", { id, message: `it is ${state}` });
  if (!(await store.spend(id, Date.now())))
    throw new HermesError("APPROVAL", { id, message: "it was used already: ask again" });
  return {
    name: by,
    ask(item, answer) {
      // What the command does later, at a system call, is another question.
      if (item.kind === "TOOL_CALL") void answer({ answer: "once", by, note: `approval ${id}` });
    },
    withdraw() {},
  };
}

function digestOf({ command, workspace }: Pick<AgentQuestion, "command" | "workspace">): string {
  return createHash("sha256")
    .update(JSON.stringify(["agent", command, workspace]))
    .digest("hex");
}
