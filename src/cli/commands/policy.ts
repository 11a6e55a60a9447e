import { syscallByNumber } from "../../abi/index.js";
import { planDoors } from "../../kernel/doors/door-plan.js";
import { disassemble } from "../../kernel/filter/index.js";
import { isAtOrBelow } from "../../nouns/path.js";
import { counted } from "../../nouns/text.js";
import type { Decision } from "../../nouns/verdict.js";
import { parseWritten } from "../../offline/simulate/read.js";
import { loadPolicies } from "../../policy/load.js";
import type { Policy, RuleTier } from "../../policy/policy.js";
import { PolicyStack } from "../../policy/stack.js";
import { paint, print } from "../views/output.js";

/** Loads policies like a run, and describes them. Errors have file, line and column. */
export async function policyCheckCommand(
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
  const inKernel = constantRules > 0 ? `, the kernel decides ${counted(constantRules, "rule")}` : "";
  print(`${p("green", "✓")} ${file}: ${name} ${version}, decides on ${counted(calls, "call")}${inKernel}\n`);
  for (const finding of findings) print(`${p("yellow", "!")} ${finding}\n`);
}

interface ExplainFlags {
  event?: string[];
  filter?: boolean;
  door: "auto" | "notify" | "trace";
  program?: boolean;
  tiers?: boolean;
  json?: boolean;
}

export async function policyExplainCommand(files: string[], flags: ExplainFlags): Promise<number> {
  const policies = await loadPolicies(files);
  if (flags.tiers) return explainTiers(policies, flags.json === true);
  for (const text of flags.event ?? []) await explainEvent(policies, text);
  if (!flags.event || flags.filter || flags.program) explainFilter(policies, flags);
  return 0;
}

/** Each policy's verdict on one event, and the one that wins. */
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

/** What compiles to which door, and what the kernel decides alone. */
function explainFilter(policies: readonly Policy[], flags: ExplainFlags): void {
  const p = paint(1);
  const stack = new PolicyStack(policies);
  const { doorOf, program, refusesIoUring } = planDoors({ stack, recorded: [], door: flags.door, live: [] });
  const name = (nr: number) => syscallByNumber(nr)?.name ?? `syscall_${nr}`;
  for (const door of ["notify", "trace"] as const) {
    const calls = [...doorOf].filter(([, d]) => d.name === door).map(([nr]) => name(nr));
    if (calls.length > 0) print(`${p("bold", `${door} door`)} (${COST[door]}): ${calls.sort().join(" ")}\n`);
  }
  for (const rule of stack.constants)
    print(`${p("bold", "in the kernel")} (no stop): ${rule.action} ${name(rule.nr)} by rule ${rule.id}\n`);
  if (refusesIoUring) print(`${p("bold", "in the kernel")} (no stop): io_uring is refused\n`);
  print(`all other calls run without a stop; the filter has ${counted(program.length, "instruction")}\n`);
  if (flags.program) print(`${disassemble(program, name)}\n`);
}

/** Which rule is held where, and why not at less cost. */
function explainTiers(policies: readonly Policy[], json: boolean): number {
  const isOwn = (path: string) => isAtOrBelow(path, "/dev/shm");
  const reports = policies.map((policy) => {
    const rules = policy.readRules?.(isOwn);
    const why =
      rules === undefined ? "a script decides at each call" : "why" in rules ? rules.why : undefined;
    const open = rules && "openFiles" in rules ? rules.openFiles : undefined;
    const held = open && { hasLinks: false, openFiles: !("why" in open) };
    return {
      policy: policy.name,
      ...(why !== undefined && { withoutView: why }),
      ...(open && "why" in open && { openFilesDecided: open.why }),
      rules: policy.tiers?.(held) ?? [],
    };
  });
  if (json) print(`${JSON.stringify(reports)}\n`);
  else for (const report of reports) printTiers(report);
  return 0;
}

interface TierReport {
  readonly policy: string;
  readonly withoutView?: string;
  readonly openFilesDecided?: string;
  readonly rules: readonly RuleTier[];
}

function printTiers({ policy, withoutView, openFilesDecided, rules }: TierReport): void {
  const p = paint(1);
  print(`${p("bold", policy)}\n`);
  if (withoutView !== undefined) print(`  no view, reading files is decided at each call: ${withoutView}\n`);
  if (openFilesDecided !== undefined)
    print(`  changing open files by their descriptors is decided at each call: ${openFilesDecided}\n`);
  for (const { rule, action, filter, view, stops, why } of rules) {
    print(`  ${p("bold", rule)} (${action})\n`);
    const lines: [string, readonly string[]][] = [
      ["filter", filter],
      ["view", view],
      ["stops", stops],
    ];
    for (const [tier, calls] of lines)
      if (calls.length > 0)
        print(`    ${tier.padEnd(7)} ${callWords(calls)}${tier === "stops" ? `: ${why}` : ""}\n`);
  }
}

function callWords(calls: readonly string[]): string {
  const shown = calls.slice(0, 6).join(" ");
  return calls.length > 6 ? `${shown} and ${calls.length - 6} more` : shown;
}

const COST = {
  notify: "a decided call costs about one context switch to the supervisor and back",
  trace: "costs about a third more than the notify door; twice that when results are needed",
};
