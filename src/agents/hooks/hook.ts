import { randomUUID } from "node:crypto";
import { homedir } from "node:os";
import { loadConfig, optionsOf } from "../../intent/guard/config/load.js";
import { entryAgainst } from "../../intent/guard/entry-against.js";
import { type Finding, findings as guardFindings } from "../../intent/guard/finding.js";
import { hostGuard } from "../../intent/guard/host.js";
import { allowCommand } from "../../people/approval/how-to-allow.js";
import { Audit } from "../../record/audit/audit.js";
import type { Store } from "../../record/store/store.js";
import type { AgentAdapter, HookCall, HookDecision } from "./agent.js";
import { parkAgentQuestion } from "./agent-question.js";
import { type Judged, judgeCall } from "./judge.js";
import { type JudgedResult, judgeResult } from "./result.js";
import { excludeProtected } from "./search-results.js";
import { syntaxError } from "./syntax.js";
import { wrapped } from "./wrap.js";

/**
 * READ FIRST for the hooks. An agent reports what a tool is about to do (or has returned). The guard judges it, the
 * judgement is recorded, and the agent gets an answer in its own format. An allowed command is rewritten to run under
 * `hermes exec`. An exception here is a refusal: the caller reports it to the agent.
 */
export async function answerHook(
  call: HookCall,
  agent: AgentAdapter,
  store: Store,
): Promise<object | undefined> {
  const { cwd } = call;
  const workspace = call.workspace.folder;
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

/** `wrap.ts` can only prefix a complete script. */
function wellFormed(judged: Judged): Judged {
  if (judged.command === undefined || judged.action === "deny") return judged;
  const wrong = syntaxError(judged.command);
  if (wrong === undefined) return judged;
  const finding = deny("syntax", `bash cannot parse this command: ${wrong}.`);
  return { ...judged, action: "deny", findings: [...judged.findings, finding] };
}

interface Records {
  readonly store: Store;
  readonly audit: Audit;
  readonly session: string;
}

async function beforehand(
  call: HookCall,
  judged: Judged,
  agent: AgentAdapter,
  records: Records,
): Promise<HookDecision> {
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
  const reason = reasonOf(findings, action) + howToAllow(judged, call.workspace.folder);
  if (command === undefined || field === undefined || action === "deny" || call.moment !== "before")
    return {
      ...(action === "ask" && !call.hasUser
        ? { action: "deny", reason: `${reason} ${CANNOT_ASK}` }
        : { action, reason }),
      silent: true,
      ...(call.moment === "before" && narrowed(call, agent)),
    };
  const workspace = call.workspace.folder;
  const wrapping = { workspace, timeout: agent.timeout(call.input) };
  const inWords = Array.isArray(call.input[field]);
  const running = (line: string) => ({ ...call.input, [field]: inWords ? ["/bin/sh", "-c", line] : line });
  // An agent that cannot ask, or has no user, gets a command that `hermes exec` asks about and waits for.
  if (action === "allow" || !call.hasUser)
    return { action: "allow", reason, silent: true, input: running(wrapped(command, wrapping)) };
  const asked = await parkAgentQuestion(store, audit, { session, command, workspace, findings });
  return { action, reason, input: running(wrapped(command, { ...wrapping, asked })) };
}

/** A search with added globs of files to skip. */
function narrowed({ tool, input }: HookCall, agent: AgentAdapter): Pick<HookDecision, "input"> {
  const row = Object.hasOwn(agent.tools, tool) ? agent.tools[tool] : undefined;
  if (row?.does !== "search" || row.globs === undefined) return {};
  return { input: { ...input, [row.globs]: excludeProtected(input[row.globs]) } };
}

const CANNOT_ASK =
  "This needs a person's approval, and no person can be asked here. Let the user do it, or allow it in hermes.yaml.";

async function afterwards(
  call: HookCall,
  { action, findings, output, length }: JudgedResult,
  { audit, session }: Records,
): Promise<HookDecision> {
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

/** For the agent's user: what lifts the first finding that decides. */
function howToAllow({ action, findings, subject }: Judged, workspace: string): string {
  const deciding = action === "deny" ? findings.find((finding) => finding.action === action) : undefined;
  const entry = deciding && subject && entryAgainst(deciding, subject);
  return entry ? ` The user can allow it with: ${allowCommand(entry, workspace)}` : "";
}

/** A message to the agent: the deciding findings, or that there are none. */
function reasonOf(findings: readonly Finding[], action: HookDecision["action"]): string {
  if (action === "allow") return "No rule of HERMES refuses this.";
  const deciding = findings.filter((finding) => finding.action === action).slice(0, 5);
  return deciding
    .map(({ reason, rule, instead }) => `${reason} (${rule})${instead ? ` Instead: ${instead}` : ""}`)
    .join(" ");
}
