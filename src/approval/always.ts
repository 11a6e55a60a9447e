import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { parseDocument } from "yaml";
import { HermesError } from "../errors.js";
import { whyRunsAnything } from "./interpreters.js";
import type { Question } from "./question.js";

/** Why this question cannot be answered for always; undefined when it can. */
export function whyNotAlways({ subject }: Question): string | undefined {
  const { argv, path } = subject;
  // The first word is whatever the caller wrote; the file is what runs.
  const freely = argv && (whyRunsAnything(argv) ?? whyRunsAnything([path ?? "", ...argv.slice(1)]));
  if (freely) return freely;
  if (subject.path?.includes("${")) return "its path looks like a variable of a policy";
  if (!subject.path && !subject.address && !subject.argv)
    return "it names nothing that a rule could hold on to";
  return undefined;
}

/** Adds a rule that answers this question, and no other, to the file; writes the whole file anew, or not at all. */
export function approveAlways(file: string, question: Question): void {
  const { call, subject, reason } = question;
  const rule = {
    id: `approved-${createHash("sha256")
      .update(JSON.stringify([call, subject]))
      .digest("hex")
      .slice(0, 12)}`,
    allow: subject.argv ? "exec" : call,
    ...(subject.path !== undefined && { path: literal(subject.path) }),
    ...(subject.address !== undefined && { address: subject.address }),
    ...(subject.argv && { argv_matches: wholeLine(subject.argv) }),
    reason: `Approved by a person on ${new Date().toISOString()}${reason ? `: ${reason}` : ""}`,
  };
  const text = existsSync(file) ? readFileSync(file, "utf8") : "name: approved\nrules: []\n";
  const document = parseDocument(text);
  const [error] = document.errors;
  const rules = document.get("rules") as
    | { flow?: boolean; items?: { get?(key: string): unknown }[] }
    | undefined;
  if (error || !rules?.items)
    throw new HermesError("USAGE", { message: `${file}: ${error?.message ?? "there is no list of rules"}` });
  if (rules.items.some((one) => one.get?.("id") === rule.id)) return;
  rules.flow = false;
  document.addIn(["rules"], document.createNode(rule));
  replace(existsSync(file) ? realpathSync(file) : file, String(document));
}

/** The draft is a file of our own: a link that somebody left under its name is not followed. */
function replace(file: string, text: string): void {
  const draft = `${file}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
  renameSync(draft, file);
}

/** A path in which nothing is a pattern. */
function literal(path: string): string {
  return path.replace(/[\\*?[\]{}]/g, (sign) => `\\${sign}`);
}

/** These words and no more; the first is compared with the file that runs. */
function wholeLine([, ...words]: readonly string[]): string {
  const rest = words.map((word) => ` ${word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}`);
  return `^\\S+${rest.join("")}$`;
}
