/**
 * `asker STORE FOLDER SESSION COMMAND`: a process of an agent, which asks about a command and says what became of it.
 * `asker STORE FOLDER SESSION answer ID ANSWER`: a process that answers as soon as it is told to.
 */
import { once } from "node:events";
import { hostname } from "node:os";
import { commandDigest } from "../../src/approval/digest.js";
import { startOf } from "../../src/approval/owner.js";
import type { Answer } from "../../src/approval/question.js";
import { Queue } from "../../src/approval/queue.js";
import { approvalsSection } from "../../src/guard/config/approvals.js";
import { openStore } from "../../src/store/open.js";

const [url = "", folder = "", session = "", command = "", id = "", answer = ""] = process.argv.slice(2);
const tell = (value: object) => process.stdout.write(`${JSON.stringify(value)}\n`);
const store = await openStore(url);
const config = approvalsSection.parse({});
const queue = new Queue({ store, workspace: folder, config: () => config });

if (command === "answer") {
  tell({ ready: true });
  await once(process.stdin, "data");
  const { mine, item } = await queue.answer(id, { answer: answer as Answer, by: `cli:${session}` });
  tell({ mine, by: item.answeredBy });
} else {
  const { pid } = process;
  const pidStarted = startOf(pid)!;
  const started = Date.now();
  await store.openSession({
    id: session,
    started,
    host: hostname(),
    pid,
    pidStarted,
    workspace: folder,
    agent: "a",
  });
  const { digest } = commandDigest({ command, cwd: folder, env: ["PATH"] });
  const call = {
    id: `${session}-call`,
    session,
    tool: "terminal_exec",
    input: "{}",
    digest,
    created: started,
  };
  await store.addToolCall({ ...call, status: "PENDING" });
  const outcome = await queue.request(
    {
      kind: "TOOL_CALL",
      session,
      toolCall: call.id,
      what: command,
      digest,
      findings: [{ layer: "command", rule: "recursive-delete", action: "ask", reason: "deletes" }],
    },
    { parked: (parked) => tell({ parked }) },
  );
  tell(outcome);
}
await store.close();
process.exit(0);
