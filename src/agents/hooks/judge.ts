import { type Action, type Finding, findings, strictest } from "../../intent/guard/finding.js";
import type { Guard } from "../../intent/guard/guard.js";
import type { Subject } from "../../intent/guard/subject.js";
import { workspaceProblem } from "../../nouns/workspace.js";
import type { AgentAdapter, HookCall } from "./agent.js";
import { isCommandName } from "./arguments.js";
import { guardSubjects, type ToolRow } from "./tools.js";
import { shellQuoted, unwrapped } from "./wrap.js";

export interface Judged {
  readonly action: Action;
  readonly findings: readonly Finding[];
  /** The strictest judgement, for the record. */
  readonly subject?: Subject;
  /** The command that the call would run, and the argument that holds it. */
  readonly command?: string;
  readonly field?: string;
}

const { deny } = findings("hooks");

/** The guard's judgement of a call before it runs. `unknown`: the action for tools that HERMES does not know. */
export async function judgeCall(
  call: HookCall,
  agent: AgentAdapter,
  guard: Guard,
  unknown: Action,
): Promise<Judged> {
  const row = Object.hasOwn(agent.tools, call.tool) ? agent.tools[call.tool] : undefined;
  const asked = guardSubjects(call.tool, row, call.input);
  const field = commandField(call, agent, row);
  const command = field === undefined ? undefined : commandIn(call.input[field]);
  const inner = call.moment === "permission" && command !== undefined ? unwrapped(command) : undefined;
  const subjects = inner === undefined ? asked : [{ kind: "command", input: inner } as const];
  const judged = await Promise.all(subjects.map((subject) => judgeSubject(subject, call, guard)));
  const all = judged.flatMap((one) => one.findings);
  if (command !== undefined && /\0|\p{Surrogate}/u.test(command))
    all.push(deny("not-text", "This command contains bytes that cannot be passed to a shell."));
  const tooMuch = workspaceProblem(call.workspace, `the hook of ${agent.name}`);
  if (tooMuch) all.push(deny("workspace", tooMuch.message));
  if (row === undefined && !agent.servers.test(call.tool) && unknown !== "allow")
    all.push(
      findings("hooks")[unknown]("unknown-tool", `HERMES does not know the tool ${call.tool.slice(0, 80)}.`),
    );
  const action = all.reduce<Action>((worst, finding) => strictest(worst, finding.action), "allow");
  const telling =
    judged.find((one) => one.findings.some((finding) => finding.action === action)) ?? judged[0];
  return {
    action,
    findings: all,
    ...(telling && { subject: telling.subject }),
    ...(command !== undefined && { command, field: field! }),
  };
}

/**
 * The argument with a command that the agent itself would run, for known tools and unknown ones. Only an MCP server knows
 * what it does with an argument of that name: such an argument is judged and not rewritten.
 */
function commandField(
  { tool, input }: HookCall,
  agent: AgentAdapter,
  row: ToolRow | undefined,
): string | undefined {
  if (row?.does === "command") return input[row.field] === undefined ? undefined : row.field;
  if (row !== undefined || agent.servers.test(tool)) return undefined;
  return Object.keys(input).find((key) => isCommandName(key) && commandIn(input[key]) !== undefined);
}

/** As a line for a shell. An agent that passes a list of words runs them without a shell. */
function commandIn(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string")
    ? value.map(shellQuoted).join(" ")
    : undefined;
}

async function judgeSubject(
  subject: Subject,
  { cwd }: HookCall,
  guard: Guard,
): Promise<{ subject: Subject; findings: readonly Finding[] }> {
  const { only, ...fields } = subject.fields ?? {};
  const asked = { ...subject, fields: { ...fields, ...(subject.kind === "command" && { cwd }) } };
  const { findings: found } = await guard.judge(asked);
  return {
    subject: asked,
    findings: only === undefined ? found : found.filter(({ layer }) => layer === only),
  };
}
