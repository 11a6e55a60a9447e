/**
 * `asker STORE FOLDER SESSION COMMAND`: a process of an agent, which asks about a command and says what became of it.
 * `asker STORE FOLDER SESSION answer ID ANSWER`: a process that answers as soon as it is told to.
 * `asker STORE FOLDER SESSION busy ROUNDS`: an agent that asks about a few commands, all at once, again and again.
 */
import { once } from "node:events";
import { hostname } from "node:os";
import { approvalsSection } from "../../../src/intent/guard/config/approvals.js";
import { readStat } from "../../../src/kernel/process/proc.js";
import type { Answer } from "../../../src/people/approval/answer.js";
import { commandDigest } from "../../../src/people/approval/digest.js";
import { Queue } from "../../../src/people/approval/queue.js";
import { openStore } from "../../../src/record/store/open.js";

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
  await open();
  const rounds = command === "busy" ? Number(id) : 1;
  const commands = command === "busy" ? ["rm -rf a", "rm -rf b", "rm -rf c"] : [command];
  for (let round = 0; round < rounds; round++)
    await Promise.all(
      commands.map((one, i) => ask(one, `${session}-call${command === "busy" ? `-${round}-${i}` : ""}`)),
    );
}
await store.close();
process.exit(0);

async function open(): Promise<void> {
  const { pid } = process;
  const who = { id: session, host: hostname(), pid, pidStarted: readStat(pid)?.start ?? 0, agent: "a" };
  await store.openSession({ ...who, started: Date.now(), workspace: folder });
}

async function ask(what: string, call: string): Promise<void> {
  const { digest } = commandDigest({ command: what, cwd: folder, env: ["PATH"] });
  const row = { id: call, session, tool: "terminal_exec", input: "{}", digest };
  await store.addToolCall({ ...row, created: Date.now(), status: "PENDING" });
  const findings = [
    { layer: "command", rule: "recursive-delete", action: "ask", reason: "deletes" },
  ] as const;
  const request = { kind: "TOOL_CALL", session, toolCall: call, what, digest, findings } as const;
  tell(await queue.request(request, { parked: (parked) => tell({ parked }) }));
}
