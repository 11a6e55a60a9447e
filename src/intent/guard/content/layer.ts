import { type Finding, findings, type Span } from "../finding.js";
import { intentsOf } from "../intents/intent.js";
import type { Context, Layer } from "../layer.js";
import { lookalikeOf } from "../packages/lookalike.js";
import { packageMentions } from "../packages/mention.js";
import { invisibles } from "../reading/invisible.js";
import { disguisedWords } from "../reading/unicode-script.js";
import type { Subject } from "../subject.js";
import { escapeSequences } from "./escapes.js";
import { misleadingNames } from "./extensions.js";
import { hostLooks, isTrustedName } from "./hosts.js";
import { linksIn, mismatches } from "./links.js";
import { pipes } from "./pipes.js";
import { consultTirith } from "./tirith.js";

const layer = findings("content");

/** Deception in text: links, names, commands and characters that a person reads differently from a machine. */
export const contentLayer: Layer = {
  name: "content",
  kinds: ["text", "url", "memory", "command"],
  check: (subject) => judgeContent(subject),
  lookup: (subject, context: Context) => consultTirith(subject, context),
};

function judgeContent({ kind, input, fields }: Subject): Finding[] {
  if (kind === "url") return judgeUrl(input);
  if (kind === "command") return judgeCommand(input);
  const found = [
    ...judgePipes(input, kind),
    ...[...mismatches(input), ...misleadingNames(input)].map(toFinding),
  ];
  found.push(
    ...judgeLinks(input),
    ...judgePackages(input),
    ...escapeSequences(input).map(toFinding),
    ...judgeWords(input),
  );
  if (kind === "text") found.push(...judgeHidden(input), ...judgeIntents(input, fields?.source));
  return once(found);
}

interface Row extends Span {
  readonly rule: string;
  readonly action: Finding["action"];
  readonly reason: string;
}

const toFinding = ({ rule, action, reason, start, end }: Row): Finding =>
  layer[action](rule, reason, { start, end });

/** Each rule once, with its strictest action: a long text repeats the rest. */
function once(all: readonly Finding[]): Finding[] {
  const rank = { allow: 0, ask: 1, deny: 2 };
  const kept = new Map<string, Finding>();
  for (const finding of all) {
    const known = kept.get(finding.rule);
    if (!known || rank[finding.action] > rank[known.action]) kept.set(finding.rule, finding);
  }
  return [...kept.values()];
}

function judgeUrl(input: string): Finding[] {
  const hidden = invisibles(input).map(({ rule, what, start, end }) =>
    layer.deny(rule, `This URL has ${what}.`, { start, end }),
  );
  const text = /:\/\//.test(input) ? input : `http://${input}`;
  const looks = linksIn(text.trim())
    .slice(0, 1)
    .flatMap(({ host }) => hostLooks(host))
    .map(({ rule, action, reason }) => layer[action](rule, reason));
  return [...hidden.slice(0, 1), ...looks];
}

/** The command layer judges what a command does; this layer judges whether a person sees what it says. */
function judgeCommand(input: string): Finding[] {
  const found = input.includes("://") ? judgeLinks(input) : [];
  if (PLAIN.test(input)) return once(found);
  return once([
    ...found,
    ...escapeSequences(input).map(toFinding),
    ...judgeHidden(input),
    ...judgeWords(input),
  ]);
}

const PLAIN = /^[\t\n\x20-\x7e]*$/;

/** In a text: instructions to install something. In a memory: something that the agent would do on its own. */
function judgePipes(text: string, kind: Subject["kind"]): Finding[] {
  const found = pipes(text).map(toFinding);
  return kind === "memory"
    ? found.map((finding) => (finding.action === "ask" ? { ...finding, action: "deny" } : finding))
    : found;
}

function judgeLinks(text: string): Finding[] {
  return linksIn(text).flatMap(({ host, start, end }) =>
    hostLooks(host).map(({ rule, action, reason }) => layer[action](rule, reason, { start, end })),
  );
}

function judgePackages(text: string): Finding[] {
  return packageMentions(text).flatMap(({ name, ecosystem, start, end }) => {
    const twin = lookalikeOf(name, ecosystem);
    if (!twin) return [];
    const reason = `${name} looks like ${twin.of} but is not (${ecosystem}).`;
    return [layer[twin.known ? "deny" : "ask"]("look-alike-package", reason, { start, end })];
  });
}

function judgeWords(text: string): Finding[] {
  return disguisedWords(text)
    .slice(0, 4)
    .map(({ word, reads, index }) => {
      const action = isTrustedName(reads) ? "deny" : "ask";
      const span = { start: index, end: index + word.length };
      return layer[action](
        "mixed-script-word",
        `“${word}” reads ${reads}, but has letters of another script.`,
        span,
      );
    });
}

/** Invisible characters in text from outside are often leftovers of a web page; hidden words are not. */
function judgeHidden(text: string): Finding[] {
  return invisibles(text)
    .slice(0, 16)
    .map(({ rule, what, start, end }) => {
      const inWord =
        rule === "zero-width" && /[a-z]/i.test(text[start - 1] ?? "") && /[a-z]/i.test(text[end] ?? "");
      const leftover =
        (rule === "zero-width" && !inWord) ||
        rule === "filler" ||
        (rule === "bidi-control" && end - start === 1 && !/[\u202a-\u202c\u2066-\u2069]/.test(text[start]!));
      return layer[leftover ? "ask" : "deny"](rule, `This text has ${what}.`, { start, end });
    });
}

/** Who wrote a text. Without a source, it counts as text from outside. */
const ADDRESSED: ReadonlySet<unknown> = new Set(["user", "agent", "skill", "mcp"]);

/**
 * Judges what a text wants of the agent that reads it. In text from outside, every finding counts. The user's own
 * words are the task: what would be refused from others asks, and what would ask is only noted.
 */
function judgeIntents(text: string, source: unknown): Finding[] {
  return intentsOf(text, ADDRESSED.has(source) ? "addressed" : "outside").map(
    ({ rule, action, reason, start, end }) =>
      layer[source === "user" ? LESS[action] : action](rule, reason, { start, end }),
  );
}

const LESS = { deny: "ask", ask: "allow", allow: "allow" } as const;
