import { parse, type Statement, type SyntaxNode } from "unbash";
import type { Finding } from "../../intent/guard/finding.js";
import type { ApprovalPart, ApprovalRequest } from "./approvals.js";

/** Commands that change the shell itself: a command behind them does something else than alone. */
const CHANGES_SHELL =
  /^(cd|pushd|popd|export|unset|set|shopt|declare|typeset|local|readonly|alias|unalias|source|\.|eval|exec|trap|umask|ulimit|read|mapfile|readarray|getopts|hash|enable|builtin|command|let|shift|return|exit|break|continue|function)$/;

/**
 * The commands that a command is composed of (`a && b; c`), each with its own digest and findings. None when it is one
 * command (a pipeline is one), or when one changes what another does.
 */
export function commandParts(
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
  return [isSimpleCommand(node) ? node : undefined];
}

function isSimpleCommand(node: SyntaxNode): boolean {
  if (node.type === "Pipeline") return node.commands.every((one) => isSimpleCommand(one));
  if (node.type !== "Command" || !node.name) return false;
  const here = node.redirects.some(({ operator }) => operator.startsWith("<<"));
  return !here && !/[$`]/.test(node.name.text) && !CHANGES_SHELL.test(node.name.value);
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
