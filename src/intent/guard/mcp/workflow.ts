import type { Action, Span } from "../finding.js";

interface WorkflowFinding extends Span {
  readonly rule: string;
  readonly action: Action;
  readonly reason: string;
}

const USES = /^([ \t]*-?[ \t]*["']?uses["']?[ \t]*:[ \t]*)["']?([^\s"'#]{1,300})["']?/gm;
/** Contexts that outsiders control; in a script, a shell would run them. */
const OUTSIDE =
  /\$\{\{[^}]{0,120}github\.(?:event\.(?:issue|pull_request|comment|review|review_comment|discussion|head_commit|commits|pages|workflow_run)[\w.[\]*]{0,80}\.(?:title|body|message|name|email|ref|label|page_name|default_branch)|head_ref)[^}]{0,80}\}\}/g;

/** Findings in a GitHub Actions workflow: unpinned actions, and outsiders' text in scripts. */
export function judgeWorkflow(text: string): WorkflowFinding[] {
  const found: WorkflowFinding[] = [];
  for (const match of text.matchAll(USES)) {
    const start = match.index + match[1]!.length;
    const finding = unpinned(match[2]!);
    if (finding)
      found.push({
        rule: "unpinned-action",
        action: "ask",
        reason: finding,
        start,
        end: start + match[2]!.length,
      });
  }
  for (const { start, end, body } of scripts(text))
    for (const match of body.matchAll(OUTSIDE))
      found.push({
        rule: "script-injection",
        action: "deny",
        reason: `Outsiders control ${match[0]}, and this script runs it.`,
        start: start + match.index,
        end: Math.min(end, start + match.index + match[0].length),
      });
  const target =
    /^[ \t]*["']?pull_request_target["']?[ \t]*:?/m.exec(text) ??
    /\bon[ \t]*:[ \t]*\[?[^\n\]]{0,80}pull_request_target/.exec(text);
  const checkout = /ref[ \t]*:[ \t]*["']?\$\{\{[^}]{0,60}(?:pull_request\.head|head_ref)/.exec(text);
  if (target && checkout)
    found.push({
      rule: "untrusted-checkout",
      action: "deny",
      reason: "This runs code of a pull request with the repository's secrets.",
      start: checkout.index,
      end: checkout.index + checkout[0].length,
    });
  return found;
}

function unpinned(action: string): string | undefined {
  if (action.startsWith("./") || action.startsWith("../")) return undefined;
  if (action.startsWith("docker://"))
    return /@sha256:[0-9a-f]{64}$/.test(action)
      ? undefined
      : `${action} is not pinned to a digest: the image can change.`;
  const at = action.lastIndexOf("@");
  if (at < 0) return `${action} has no version. Pin it to a commit.`;
  return /^[0-9a-f]{40}$|^[0-9a-f]{64}$/.test(action.slice(at + 1))
    ? undefined
    : `${action} is not pinned to a commit: its owner can change what it does.`;
}

/** The scripts of `run:`, on one line or as a block. */
function* scripts(text: string): Iterable<{ start: number; end: number; body: string }> {
  const lines = text.split("\n");
  let offset = 0;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    const run = /^([ \t]*)(?:-[ \t]*)?["']?(?:run|script)["']?[ \t]*:[ \t]*(.*)$/.exec(line);
    if (run) {
      const start = offset + line.length - run[2]!.length;
      let body = run[2]!;
      if (/^[|>]/.test(body.trim())) {
        const indent = run[1]!.length;
        for (
          let j = i + 1;
          j < lines.length && (lines[j]!.trim() === "" || lines[j]!.search(/\S/) > indent);
          j++
        )
          body += `\n${lines[j]}`;
      }
      yield { start, end: start + body.length, body };
    }
    offset += line.length + 1;
  }
}
