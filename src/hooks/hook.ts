import { randomUUID } from "node:crypto";
import { homedir } from "node:os";
import { Audit } from "../audit/audit.js";
import { loadConfig, optionsOf } from "../guard/config/load.js";
import { type Finding, findings as guardFindings } from "../guard/finding.js";
import { hostGuard } from "../guard/host.js";
import type { Store } from "../store/store.js";
import type { Agent, Decision, HookCall } from "./agent.js";
import { parkQuestion } from "./grant.js";
import { type Judged, judgeCall } from "./judge.js";
import { type JudgedResult, judgeResult } from "./result.js";
import { leavingOut } from "./search.js";
import { syntaxError } from "./syntax.js";
import { wrapped } from "./wrap.js";

/**
 * READ FIRST for the hooks. An agent tells what a tool is about to do (or has returned); the guard judges it; the judgement
 * is recorded; the agent is answered in its own words, so that an allowed command runs under `hermes exec`. Whatever throws
 * here is a refusal: who calls this tells the agent so.
 */
export async function answerHook(call: HookCall, agent: Agent, store: Store): Promise<object | undefined> {
  const { workspace, cwd } = call;
  const home = homedir();
  const { config, atLeast } = loadConfig({ workspace, home, env: process.env });
  const guard = hostGuard({ ...(await optionsOf({ config, atLeast })), workspace, cwd, home });
  const audit = Audit.open(store);
  try {
    const records = { store, audit, session: `${agent.name}:${call.session}` };
    const decision =
      call.moment === "after"
        ? await afterwards(call, await judgeResult(call, agent, guard, config), records)
        : await beforehand(
            call,
            wellFormed(await judgeCall(call, agent, guard, config.hooks.unknown_tools)),
            agent,
            records,
          );
    return agent.answer(call, decision);
  } finally {
    audit.close();
  }
}

const { deny } = guardFindings("hooks");

/** A command that is no whole script cannot be put behind ours. */
function wellFormed(judged: Judged): Judged {
  if (judged.command === undefined || judged.action === "deny") return judged;
  const wrong = syntaxError(judged.command);
  if (wrong === undefined) return judged;
  const finding = deny("syntax", `bash cannot read this command: ${wrong}.`);
  return { ...judged, action: "deny", findings: [...judged.findings, finding] };
}

interface Records {
  readonly store: Store;
  readonly audit: Audit;
  readonly session: string;
}

async function beforehand(call: HookCall, judged: Judged, agent: Agent, records: Records): Promise<Decision> {
  const { action, findings, subject, command, field } = judged;
  const { audit, store, session } = records;
  await audit.record(
    "tool-call",
    {
      id: randomUUID(),
      tool: call.tool,
      input: subject?.input ?? JSON.stringify(call.input),
      ...(subject && { kind: subject.kind, fields: subject.fields ?? {} }),
      action,
      findings,
    },
    { session },
  );
  const reason = reasonOf(findings, action);
  if (command === undefined || field === undefined || action === "deny" || call.moment !== "before")
    return {
      ...(action === "ask" && !call.attended
        ? { action: "deny", reason: `${reason} ${NOBODY_TO_ASK}` }
        : { action, reason }),
      silent: true,
      ...(call.moment === "before" && narrowed(call, agent)),
    };
  const { workspace } = call;
  const wrapping = { workspace, timeout: agent.timeout(call.input) };
  const inWords = Array.isArray(call.input[field]);
  const running = (line: string) => ({ ...call.input, [field]: inWords ? ["/bin/sh", "-c", line] : line });
  // An agent that cannot ask, or that nobody attends, runs it all the same: `hermes exec` asks in its place, and waits.
  if (action === "allow" || !call.attended)
    return { action: "allow", reason, silent: true, input: running(wrapped(command, wrapping)) };
  const asked = await parkQuestion(store, audit, { session, command, workspace, findings });
  return { action, reason, input: running(wrapped(command, { ...wrapping, asked })) };
}

/** A search that is told what to leave out. */
function narrowed({ tool, input }: HookCall, agent: Agent): Pick<Decision, "input"> {
  const row = Object.hasOwn(agent.tools, tool) ? agent.tools[tool] : undefined;
  if (row?.does !== "search" || row.globs === undefined) return {};
  return { input: { ...input, [row.globs]: leavingOut(input[row.globs]) } };
}

const NOBODY_TO_ASK =
  "It needs a person's consent, which cannot be asked for here: let them do it, or allow it in hermes.yaml.";

async function afterwards(
  call: HookCall,
  { action, findings, output, length }: JudgedResult,
  { audit, session }: Records,
): Promise<Decision> {
  const input = `result of ${call.tool}: ${length} characters`;
  await audit.record(
    "tool-call",
    { id: randomUUID(), tool: call.tool, input, action, findings },
    { session },
  );
  const reason =
    action === "allow" && output !== undefined ? findings.at(-1)!.reason : reasonOf(findings, action);
  return { action, reason, ...(output !== undefined && { output }) };
}

/** In words for the agent: what stands against it, or that nothing does. */
function reasonOf(findings: readonly Finding[], action: Decision["action"]): string {
  if (action === "allow") return "HERMES has nothing against it.";
  const deciding = findings.filter((finding) => finding.action === action).slice(0, 5);
  return deciding
    .map(({ reason, rule, instead }) => `${reason} (${rule})${instead ? ` Instead: ${instead}` : ""}`)
    .join(" ");
}
