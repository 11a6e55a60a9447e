import { syscallByNumber } from "../abi/index.js";
import { arrange } from "../doors/arrangement.js";
import { disassemble } from "../kernel/filter/index.js";
import { loadPolicies } from "../policy/load.js";
import type { Policy } from "../policy/policy.js";
import { PolicyStack } from "../policy/stack.js";
import { parseWritten } from "../simulate/read.js";
import type { Decision } from "../verdict.js";
import { paint, print } from "./output.js";

/** Loads policies as a run would, and says what they are. Errors are those of loading: with file, line and column. */
export async function checkCommand(
  files: string[],
  flags: { json?: boolean; strict?: boolean },
): Promise<number> {
  const policies = await loadPolicies(files);
  const reports = policies.map((policy) => ({
    name: policy.name,
    version: policy.version,
    file: policy.file,
    calls: policy.subscription.calls.size,
    constantRules: policy.subscription.constants.length,
    findings: policy.lint?.() ?? [],
  }));
  if (flags.json) print(`${JSON.stringify(reports)}\n`);
  else for (const report of reports) printReport(report);
  return flags.strict && reports.some((report) => report.findings.length > 0) ? 1 : 0;
}

interface Report {
  readonly name: string;
  readonly version: string;
  readonly file: string | undefined;
  readonly calls: number;
  readonly constantRules: number;
  readonly findings: readonly string[];
}

function printReport({ name, version, file, calls, constantRules, findings }: Report): void {
  const p = paint(1);
  const inKernel = constantRules > 0 ? `, ${constantRules} rules decided in the kernel` : "";
  print(`${p("green", "✓")} ${file}: ${name} ${version}, decides on ${calls} calls${inKernel}\n`);
  for (const finding of findings) print(`${p("yellow", "!")} ${finding}\n`);
}

interface ExplainFlags {
  event?: string[];
  filter?: boolean;
  door: "auto" | "notify" | "trace";
  program?: boolean;
}

export async function explainCommand(files: string[], flags: ExplainFlags): Promise<number> {
  const policies = await loadPolicies(files);
  for (const text of flags.event ?? []) await explainEvent(policies, text);
  if (!flags.event || flags.filter || flags.program) explainFilter(policies, flags);
  return 0;
}

/** What each policy says of one event, and which of them holds. */
async function explainEvent(policies: readonly Policy[], text: string): Promise<void> {
  const p = paint(1);
  const { event } = await parseWritten(text);
  print(`${p("bold", text)}\n`);
  for (const policy of policies) {
    const decision = new PolicyStack([policy], () => {}, []).decide(event);
    print(`  ${policy.name}: ${describeDecision(decision)}\n`);
    for (const line of policy.why?.(event) ?? []) print(`    ${line}\n`);
  }
  const all = new PolicyStack(policies, () => {}, []).decide(event);
  print(
    `  ${p("bold", `so: ${describeDecision(all)}`)}${policies.length > 1 ? " (the strictest holds)" : ""}\n`,
  );
}

function describeDecision({ action, rule, errno, reason }: Decision): string {
  const details = [
    errno !== undefined && action === "deny" ? String(errno) : "",
    rule ? `by rule ${rule}` : "",
    reason ?? "",
  ];
  return [action, ...details.filter(Boolean)].join(", ");
}

/** What compiles to where: which call comes through which door, what the kernel decides alone. */
function explainFilter(policies: readonly Policy[], flags: ExplainFlags): void {
  const p = paint(1);
  const stack = new PolicyStack(policies);
  const { doorOf, program, refusesIoUring } = arrange({ stack, recorded: [], door: flags.door, live: [] });
  const name = (nr: number) => syscallByNumber(nr)?.name ?? `syscall_${nr}`;
  for (const door of ["notify", "trace"] as const) {
    const calls = [...doorOf].filter(([, d]) => d.name === door).map(([nr]) => name(nr));
    if (calls.length > 0) print(`${p("bold", `${door} door`)} (${COST[door]}): ${calls.sort().join(" ")}\n`);
  }
  for (const rule of stack.constants)
    print(`${p("bold", "in the kernel")} (no stop): ${rule.action} ${name(rule.nr)} by rule ${rule.id}\n`);
  if (refusesIoUring) print(`${p("bold", "in the kernel")} (no stop): io_uring is refused\n`);
  print(`everything else never stops; the filter has ${program.length} instructions\n`);
  if (flags.program) print(`${disassemble(program, name)}\n`);
}

const COST = {
  notify: "a call that is decided costs about one switch to the supervisor and back",
  trace: "about a third more than the notify door; twice that when returns are wanted",
};
