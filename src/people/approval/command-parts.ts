import { simpleCommands } from "../../intent/guard/command/simple-commands.js";
import type { Finding } from "../../intent/guard/finding.js";
import type { ApprovalPart, ApprovalRequest } from "./approvals.js";

/**
 * The commands that a command is composed of (`a && b; c`), each with its own digest and findings. None when it is one
 * command (a pipeline is one), or when one changes what another does.
 */
export function commandParts(
  command: string,
  findings: readonly Finding[],
  digest: (part: string) => string,
): readonly ApprovalPart[] {
  const alone = simpleCommands(command);
  if (alone.length < 2) return [];
  return alone.map(({ start: pos, end }) => {
    const what = command.slice(pos, end);
    const own = findings.filter(({ span }) => span && span.start >= pos && span.end <= end);
    return { what, digest: digest(what), findings: own };
  });
}

/** Whether everything that is asked about a composed command is asked about one of its parts. */
export function coveredByParts(findings: readonly Finding[], parts: readonly ApprovalPart[]): boolean {
  const left = parts.flatMap((part) => asking(part.findings).map(nameOf));
  return asking(findings).every((finding) => {
    const at = left.indexOf(nameOf(finding));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

/** Whether a composed command needs no answer of its own: every part that is asked about is approved. */
export async function partsApproved(
  { parts = [], findings }: ApprovalRequest,
  isApproved: (part: ApprovalPart) => Promise<boolean>,
): Promise<boolean> {
  const asked = parts.filter((part) => asking(part.findings).length > 0);
  if (parts.length < 2 || asked.length === 0 || !coveredByParts(findings, parts)) return false;
  for (const part of asked) if (!(await isApproved(part))) return false;
  return true;
}

function asking(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ action }) => action !== "allow");
}

function nameOf({ rule, reason }: Finding): string {
  return `${rule}: ${reason}`;
}
