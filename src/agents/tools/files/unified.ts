import { ToolError } from "../tool.js";
import { isCrlf } from "./edits.js";

interface Hunk {
  readonly head: string;
  /** The line of the old text at which the hunk claims to start, from 1. */
  readonly at: number;
  readonly lines: readonly { readonly sign: string; readonly text: string }[];
  /** The removed or the added text has no newline after its last line. */
  readonly openOld: boolean;
  readonly openNew: boolean;
}

/**
 * Applies a unified diff of one file. The context must match exactly. Line numbers may be wrong if the context occurs only
 * once.
 */
export function applyDiff(text: string, diff: string): string {
  const end = isCrlf(text) ? "\r\n" : "\n";
  const closed = text.endsWith("\n");
  const lines = text.split(end);
  if (closed || text === "") lines.pop();
  const out: string[] = [];
  let from = 0;
  let open = !closed && text !== "";
  for (const hunk of parse(diff)) {
    const old = hunk.lines.filter(({ sign }) => sign !== "+").map((line) => line.text);
    const at = placeOf(lines, old, from, hunk);
    out.push(
      ...lines.slice(from, at),
      ...hunk.lines.filter(({ sign }) => sign !== "-").map((line) => line.text),
    );
    from = at + old.length;
    if (hunk.openNew) open = true;
    else if (hunk.openOld) open = false;
  }
  out.push(...lines.slice(from));
  return out.length === 0 ? "" : out.join(end) + (open ? "" : end);
}

function placeOf(lines: readonly string[], old: readonly string[], from: number, hunk: Hunk): number {
  const fits = (at: number) => at >= from && old.every((line, k) => lines[at + k] === line);
  // For an insertion without context, the number is the line after which it goes.
  const said = old.length === 0 ? hunk.at : hunk.at - 1;
  if (said <= lines.length && fits(said)) return said;
  const found = old.length === 0 ? [] : lines.map((_, i) => i).filter(fits);
  if (found.length === 1) return found[0]!;
  if (found.length > 1)
    throw refused(hunk, `its context is not at line ${hunk.at} and occurs ${found.length} times elsewhere`);
  const wrong = old.findIndex((line, k) => lines[said + k] !== line);
  const has = lines[said + wrong];
  const there = has === undefined ? "ends before it" : `has ${JSON.stringify(has.slice(0, 200))}`;
  throw refused(
    hunk,
    `line ${said + wrong + 1} should be ${JSON.stringify((old[wrong] ?? "").slice(0, 200))}, and the file ${there}`,
  );
}

function refused({ head }: Hunk, why: string): ToolError {
  return new ToolError("patch-not-found", `The hunk ${head} does not apply: ${why}. The file is unchanged.`);
}

const HEAD = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

function parse(diff: string): Hunk[] {
  const bad = (why: string) => new ToolError("patch-syntax", `Not a unified diff of one file: ${why}.`);
  const hunks: Hunk[] = [];
  const lines = diff.replace(/\r\n/g, "\n").replace(/\n+$/, "").split("\n");
  let files = 0;
  for (let i = 0; i < lines.length; ) {
    const line = lines[i]!;
    const head = HEAD.exec(line);
    i++;
    if (line.startsWith("--- ")) files++;
    if (/^(?:---|\+\+\+) \/dev\/null/.test(line))
      throw bad("it creates or removes the file (use write_file)");
    if (files > 1) throw bad("it changes several files; send one per call");
    if (!head) {
      if (hunks.length > 0 && line.trim() !== "" && !/^(?:--- |\+\+\+ |diff |index )/.test(line))
        throw bad(`line ${i} belongs to no hunk`);
      continue;
    }
    const body: string[] = [];
    while (i < lines.length && /^(?:[ +\-\\]|$)/.test(lines[i]!) && !isHeader(lines, i))
      body.push(lines[i++]!);
    hunks.push(hunkOf(head, body, bad));
  }
  if (hunks.length === 0) throw bad("it has no hunk (@@ -1,3 +1,4 @@)");
  return hunks;
}

/** A removed line `-- x` looks like a header, but no `+++` line follows it. */
function isHeader(lines: readonly string[], i: number): boolean {
  return lines[i]!.startsWith("--- ") && lines[i + 1]?.startsWith("+++ ") === true;
}

function hunkOf(head: RegExpExecArray, body: readonly string[], bad: (why: string) => ToolError): Hunk {
  let openOld = false;
  let openNew = false;
  const lines: { sign: string; text: string }[] = [];
  for (const line of body) {
    if (!line.startsWith("\\")) {
      lines.push({ sign: line[0] ?? " ", text: line.slice(1) });
      continue;
    }
    const { sign } = lines.at(-1) ?? { sign: " " };
    if (sign !== "+") openOld = true;
    if (sign !== "-") openNew = true;
  }
  const count = (without: string) => lines.filter(({ sign }) => sign !== without).length;
  const [, at, old = "1", , now = "1"] = head;
  if (count("+") !== Number(old) || count("-") !== Number(now))
    throw bad(
      `the hunk ${head[0]} has ${count("+")} old and ${count("-")} new lines, which differs from its header`,
    );
  return { head: head[0], at: Number(at), lines, openOld, openNew };
}
