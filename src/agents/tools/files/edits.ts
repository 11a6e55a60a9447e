import { redact } from "../../../intent/guard/credentials/secrets.js";
import { ToolError } from "../tool.js";

/** Replaces exact text with exact text. */
interface Edit {
  readonly old: string;
  readonly new: string;
  readonly all?: boolean | undefined;
}

const SHOWN = 600;
const LISTED = 10;

/** Applies all edits in order, or none: the first that does not apply throws. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  return edits.reduce(
    (now, edit, i) => applyEdit(now, edit, edits.length > 1 ? `Edit ${i + 1}: ` : ""),
    text,
  );
}

function applyEdit(text: string, edit: Edit, which: string): string {
  const { old, next } = asInFile(text, edit);
  if (edit.old === "") throw new ToolError("patch-empty", `${which}the old text is empty.`);
  if (old === next) throw new ToolError("patch-nothing", `${which}the new text equals the old text.`);
  const places = placesOf(text, old);
  if (places.length === 0) throw new ToolError("patch-not-found", which + notFound(text, edit.old));
  if (places.length > 1 && !edit.all)
    throw new ToolError(
      "patch-not-unique",
      `${which}the old text occurs ${places.length} times, on lines ${listed(text, places)}: include more of its surroundings, or set all.`,
    );
  return text.split(old).join(next);
}

/** Agents write \n. Where all lines of a file end in \r\n, the new lines do too. */
function asInFile(text: string, { old, new: next }: Edit): { old: string; next: string } {
  return isCrlf(text) ? { old: crlf(old), next: crlf(next) } : { old, next };
}

export function isCrlf(text: string): boolean {
  return text.includes("\r\n") && !/(?<!\r)\n/.test(text);
}

function crlf(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

function placesOf(text: string, old: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(old); at >= 0; at = text.indexOf(old, at + old.length)) places.push(at);
  return places;
}

function listed(text: string, places: readonly number[]): string {
  const lines = places.slice(0, LISTED).map((at) => lineAt(text, at));
  return lines.join(", ") + (places.length > LISTED ? " …" : "");
}

function lineAt(text: string, at: number): number {
  let line = 1;
  for (let i = text.indexOf("\n"); i >= 0 && i < at; i = text.indexOf("\n", i + 1)) line++;
  return line;
}

/** A hint at what the agent probably meant. */
function notFound(text: string, old: string): string {
  const missing = "the old text is not in the file.";
  if (old.includes("[redacted: "))
    return `${missing} It contains [redacted: …], a placeholder that is not in the file.`;
  const lines = text.split(/\r?\n/);
  const wanted = old.split(/\r?\n/).map(bare);
  while (wanted.length > 1 && wanted[0] === "") wanted.shift();
  while (wanted.length > 1 && wanted.at(-1) === "") wanted.pop();
  const all = lines.map(bare);
  const at = all.findIndex((_, i) => wanted.every((line, k) => all[i + k] === line));
  if (at >= 0) {
    const real = redact(lines.slice(at, at + wanted.length).join("\n")).text.slice(0, SHOWN);
    return `${missing} Line ${at + 1} has it with different white space:\n${real}`;
  }
  const first = wanted.find((line) => line.length > 3);
  const near = first === undefined ? -1 : all.indexOf(first);
  return near < 0
    ? missing
    : `${missing} Its first line matches line ${near + 1}, but the lines after it differ.`;
}

function bare(line: string): string {
  return line.trim().replace(/\s+/g, " ");
}
