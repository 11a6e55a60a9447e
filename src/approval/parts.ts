import { parse, type Statement, type SyntaxNode } from "unbash";
import type { Finding } from "../guard/finding.js";
import type { ApprovalPart, ApprovalRequest } from "./approvals.js";

/** What changes the shell itself: whatever stands behind it is not what it would be alone. */
const CHANGES_SHELL =
  /^(cd|pushd|popd|export|unset|set|shopt|declare|typeset|local|readonly|alias|unalias|source|\.|eval|exec|trap|umask|ulimit|read|mapfile|readarray|getopts|hash|enable|builtin|command|let|shift|return|exit|break|continue|function)$/;

/**
 * The commands that a command is composed of (`a && b; c`), each with its own digest and findings. None when it is one
 * command (a pipeline is one), or when one changes what another does.
 */
export function partsOf(
  command: string,
  findings: readonly Finding[],
  digest: (part: string) => string,
): readonly ApprovalPart[] {
  const script = parsed(command);
  if (!script || script.errors?.length) return [];
  const nodes = script.commands.flatMap(({ command: node, background }) =>
    background ? [undefined] : sequence(node),
  );
  const alone = nodes.filter((node) => node !== undefined);
  if (alone.length < 2 || alone.length < nodes.length) return [];
  return alone.map(({ pos, end }) => {
    const what = command.slice(pos, end);
    const own = findings.filter(({ span }) => span && span.start >= pos && span.end <= end);
    return { what, digest: digest(what), findings: own };
  });
}

/** Undefined when it is nested too deep to be parsed: the guard denies that. */
function parsed(command: string): ReturnType<typeof parse> | undefined {
  try {
    return parse(command);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function sequence(node: SyntaxNode | Statement["command"]): (SyntaxNode | undefined)[] {
  if (node.type === "AndOr") return node.commands.flatMap(sequence);
  return [standsAlone(node) ? node : undefined];
}

function standsAlone(node: SyntaxNode): boolean {
  if (node.type === "Pipeline") return node.commands.every((one) => standsAlone(one));
  if (node.type !== "Command" || !node.name) return false;
  const here = node.redirects.some(({ operator }) => operator.startsWith("<<"));
  return !here && !/[$`]/.test(node.name.text) && !CHANGES_SHELL.test(node.name.value);
}

/** Whether every finding of a composed command belongs to a part, and every part that has any is approved. */
export async function partsApproved(
  { parts = [], findings }: ApprovalRequest,
  isApproved: (part: ApprovalPart) => Promise<boolean>,
): Promise<boolean> {
  const asking = (all: readonly Finding[]) => all.filter(({ action }) => action !== "allow");
  const whole = asking(findings);
  if (parts.length < 2 || whole.length === 0) return false;
  const left = parts.flatMap((part) => asking(part.findings).map(nameOf));
  for (const finding of whole) {
    const at = left.indexOf(nameOf(finding));
    if (at < 0) return false;
    left.splice(at, 1);
  }
  for (const part of parts) if (asking(part.findings).length > 0 && !(await isApproved(part))) return false;
  return true;
}

function nameOf({ rule, reason }: Finding): string {
  return `${rule}: ${reason}`;
}
