import { approvalKeys } from "../../intent/guard/command/rules.js";
import {
  type ApprovalRule,
  type ApprovalsSection,
  effectOf,
  neverAutomatic,
} from "../../intent/guard/config/approvals.js";
import { type Action, type Finding, strictest } from "../../intent/guard/finding.js";
import { starMatches } from "../../nouns/glob.js";
import type { ApprovalRequest } from "./approvals.js";
import { coveredByParts } from "./command-parts.js";

/** In `approvals.allow` and `approvals.deny`: this very command, by its digest. */
export const EXACT_COMMAND = "exact:";

/** What is decided in advance. */
type PresetAnswer =
  | { readonly action: "allow"; readonly by: string }
  | { readonly action: "deny"; readonly by: string; readonly note: string }
  /** An approver must answer; `automatic`: mode auto approves it after the delay. */
  | { readonly action: "ask"; readonly automatic: boolean };

/** What the answers hold for. */
type Asked = Pick<
  ApprovalRequest,
  "what" | "digest" | "earlierDigests" | "findings" | "parts" | "programs"
> & {
  readonly kind?: ApprovalRequest["kind"];
};

export function presetAnswer(asked: Asked, section: ApprovalsSection, workspace: string): PresetAnswer {
  const denied = asked.findings.find(({ action }) => action === "deny");
  if (denied) return { action: "deny", by: "guard", note: denied.reason };
  const asking = asked.findings.filter(({ action }) => action === "ask");
  const rules = section.rules.filter((rule) => !rule.workspace || starMatches(rule.workspace, workspace));
  const answers = asking.map((finding) => ruled(finding, asked, rules));
  const refusal = answers.find((one) => one?.action === "deny");
  if (refusal)
    return {
      action: "deny",
      by: `rule:${refusal.rule}`,
      note: "Your configuration refuses this without asking.",
    };
  const never = deniedForAlways(asked, section);
  if (never !== undefined)
    return { action: "deny", by: `deny:${never}`, note: "An approver refused this for always." };
  const forced = answers.some((one) => one?.action === "ask");
  const exact = [asked.digest, ...(asked.earlierDigests ?? [])];
  if (!forced && exact.some((digest) => section.allow.includes(`${EXACT_COMMAND}${digest}`)))
    return { action: "allow", by: "allow:exact" };
  const covered = asking.map(({ rule }, i) =>
    answers[i]
      ? answers[i].action === "allow"
        ? `rule:${answers[i].rule}`
        : undefined
      : allowed(rule, section),
  );
  if (asking.length > 0 && covered.every((by) => by !== undefined))
    return { action: "allow", by: [...new Set(covered)].join(", ") };
  return {
    action: "ask",
    automatic:
      !forced &&
      asking.length > 0 &&
      asking.every(({ rule }, i) => covered[i] || isAutomatic(rule, section.auto)),
  };
}

/** The entry of `approvals.deny` that refuses this. */
function deniedForAlways({ digest, findings }: Asked, { deny }: ApprovalsSection): string | undefined {
  if (deny.length === 0) return undefined;
  if (deny.includes(`${EXACT_COMMAND}${digest}`)) return "exact";
  return findings.flatMap(({ rule }) => [...approvalKeys(rule), rule]).find((key) => deny.includes(key));
}

/** The key of `approvals.allow` that covers this rule. */
function allowed(rule: string, { allow }: ApprovalsSection): string | undefined {
  const key = [...approvalKeys(rule), rule].find((one) => allow.includes(one));
  return key === undefined ? undefined : `allow:${key}`;
}

function isAutomatic(rule: string, auto: readonly string[]): boolean {
  const effect = effectOf(rule);
  return !neverAutomatic(rule) && (auto.includes(rule) || (effect !== undefined && auto.includes(effect)));
}

/** The strictest of the rules that match. */
function ruled(
  finding: Finding,
  asked: Asked,
  rules: readonly ApprovalRule[],
): { readonly action: Action; readonly rule: string } | undefined {
  let found: { action: Action; rule: string } | undefined;
  for (const rule of rules) {
    const [action, pattern] = actionOf(rule);
    if (!starMatches(pattern, finding.rule) || !aboutCommand(rule, action, finding, asked)) continue;
    if (!found || strictest(found.action, action) !== found.action) found = { action, rule: pattern };
  }
  return found;
}

function actionOf({ allow, ask, deny }: ApprovalRule): readonly [Action, string] {
  if (deny !== undefined) return ["deny", deny];
  return ask === undefined ? ["allow", allow ?? ""] : ["ask", ask];
}

/**
 * `git push *` must not allow `git push x; rm -rf y`: of a composed command a rule allows the part that a finding is
 * about, when the parts are known, and nothing otherwise. It refuses and asks wherever it matches anything.
 */
function aboutCommand({ command }: ApprovalRule, action: Action, { rule }: Finding, asked: Asked): boolean {
  if (command === undefined) return true;
  const { kind, what, parts = [], programs = [] } = asked;
  const matches = (text: string) => starMatches(command, text.trim());
  if (action !== "allow")
    return (
      matches(what) || [...parts.map((part) => part.what), ...programs.map((p) => p.join(" "))].some(matches)
    );
  if (kind === "DEED") return programs.length === 1 && matches(programs[0]!.join(" "));
  if (parts.length < 2) return programs.length <= 1 && isPlain(what) && matches(what);
  const own = parts.filter(({ findings }) => findings.some((one) => one.rule === rule));
  return (
    own.length > 0 &&
    own.every((part) => isPlain(part.what) && matches(part.what)) &&
    coveredByParts(asked.findings, parts)
  );
}

/** One command, and nothing that a shell would do besides. */
function isPlain(text: string): boolean {
  return !/[\n;&|`<>]|\$\(/.test(text.trim());
}
