import { createHash, randomBytes } from "node:crypto";
import type { Finding } from "../../intent/guard/finding.js";
import { HermesError } from "../../nouns/errors.js";
import { AnswerService } from "../../people/approval/answer-service.js";
import { approvalOf } from "../../people/approval/approval-item.js";
import type { Approver } from "../../people/approval/approver.js";
import { Audit } from "../../record/audit/audit.js";
import type { Store } from "../../record/store/store.js";

/** How long the agent's user may think about it. */
const PATIENCE_MS = 30 * 60_000;

interface AgentQuestion {
  readonly session: string;
  readonly command: string;
  readonly workspace: string;
  readonly findings: readonly Finding[];
}

/**
 * A question that the agent asks its own user. The agent runs the hook's replacement command only after a yes. That command
 * names this question, and the question covers that command in that workspace, once. `hermes approvals` can answer it too.
 */
export async function parkAgentQuestion(
  store: Store,
  audit: Audit,
  question: AgentQuestion,
): Promise<string> {
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

/** An approver that passes on the agent user's yes to this command. Throws when there is no such yes. */
export async function takeAgentAnswer(
  store: Store,
  id: string,
  asked: Pick<AgentQuestion, "command" | "workspace">,
): Promise<Approver> {
  const row = await store.approval(id);
  if (!row || row.digest !== digestOf(asked))
    throw new HermesError("APPROVAL", { id, message: "no question about this command was asked here" });
  const audit = Audit.open(store);
  const by = `${row.session.split(":")[0]}:user`;
  try {
    await new AnswerService({ store, audit }).answer(id, { answer: "once", by });
  } finally {
    audit.close();
  }
  const { state } = (await store.approval(id))!;
  if (state !== "granted") throw new HermesError("APPROVAL", { id, message: `its state is ${state}` });
  if (!(await store.spend(id, Date.now())))
    throw new HermesError("APPROVAL", { id, message: "it was already used: ask again" });
  return {
    name: by,
    ask(item, answer) {
      // System calls of the command that need approval are separate questions.
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
