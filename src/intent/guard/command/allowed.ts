import { allowsCommand, literally } from "../../../nouns/allowance.js";
import type { AllowEntry } from "../config/allow.js";
import type { Finding } from "../finding.js";
import type { Context } from "../layer.js";
import { allowsPath } from "../paths/allowed.js";
import type { RuleHit } from "./checks/check.js";
import { enforcedAt } from "./enforced-at.js";
import { simpleCommands } from "./simple-commands.js";

/** Rules on what a command does to a file: the entries `read` and `write` of `allow:` lift them, and no `run`. */
const PLACES = new Map<string, "read" | "write">([
  ...words("secret-read private-data", "read"),
  ...words(
    "write-system write-outside write-new delete-outside empty-file overwrite-secrets startup-file persistence agent-instructions",
    "write",
  ),
]);
export const RULES_ON_PLACES: readonly string[] = [...PLACES.keys()];

function words(text: string, access: "read" | "write") {
  return text.split(" ").map((rule) => [rule, access] as const);
}

/** Whether an entry of `allow:` about this file or host would lift the rule. */
export function canBeAllowed(rule: string, about: string): boolean {
  return PLACES.has(rule) ? about.startsWith("/") && !about.includes("…") : enforcedAt(rule) === "connect";
}

/** The entry of `allow:` that would lift a finding of the command layer. */
export function entryAgainst({ rule, about, span }: Finding, input: string): AllowEntry | undefined {
  const place = PLACES.get(rule);
  if (about !== undefined) return place ? { [place]: literally(about) } : { connect: about };
  if (place || NEVER.has(rule) || !span) return undefined;
  const part = simpleCommands(input).find(({ start, end }) => span.start >= start && span.end <= end);
  return part?.literal && { run: part.literal.map(literally) };
}

export function isAllowedPlace({ rule, about = "" }: RuleHit, context: Context): boolean {
  const access = PLACES.get(rule);
  return access !== undefined && about.startsWith("/") && allowsPath(context, access, about, rule);
}

/** Findings on how a text is written, and on HERMES itself: no `run` lifts them. */
const NEVER = new Set(
  "hidden-characters look-alike obfuscated syntax-error too-complex fork-bomb hidden-command self-modification".split(
    " ",
  ),
);

/**
 * An allowed command is a program with its words, written out. Of a composed command it lifts what is found in that part;
 * where one part changes what another does, nothing.
 */
export function withAllowedCommands(
  input: string,
  found: readonly Finding[],
  { allowed, inspect }: Context,
): readonly Finding[] {
  const commands = allowed.filter(({ does }) => does === "run");
  if (commands.length === 0 || found.every(({ action }) => action === "allow")) return found;
  const parts = simpleCommands(input);
  return found.map((finding) => {
    const { rule, span } = finding;
    if (!span || NEVER.has(rule) || PLACES.has(rule) || enforcedAt(rule) === "connect") return finding;
    const words = parts.find(({ start, end }) => span.start >= start && span.end <= end)?.literal;
    if (!words) return finding;
    const isCovered =
      commands.some((one) => allowsCommand(one, words)) || isLiftedInScript(rule, words, inspect);
    return isCovered ? { ...finding, action: "allow" } : finding;
  });
}

const SHELL = /(?:^|\/)(?:ba|da|z)?sh$/;

/** Of a shell with a script as a word, everything of this kind that is found in the script is allowed. */
function isLiftedInScript(rule: string, words: readonly string[], inspect: Context["inspect"]): boolean {
  const [shell = "", option, script, ...more] = words;
  if (!SHELL.test(shell) || option !== "-c" || script === undefined || more.length > 0) return false;
  const inner = inspect({ kind: "command", input: script }).filter((finding) => finding.rule === rule);
  return inner.length > 0 && inner.every(({ action }) => action === "allow");
}
