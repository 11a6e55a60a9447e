import type { Finding } from "../finding.js";
import { stripInvisible } from "../reading/invisible.js";
import { judgeMemory } from "./layer.js";
import type { MemorySection } from "./section.js";
import type { MemorySource } from "./sources.js";

/** What to store, and what a reader should know about it. */
interface Screened {
  /** Undefined: the entry is refused. */
  readonly text: string | undefined;
  /** Stored with the entry, e.g. `source:web`, `warning:conceal`. */
  readonly tags: readonly string[];
  readonly findings: readonly Finding[];
}

/** Screens an entry before it is stored, by the mode of the section: block, warn, or strip. */
export function screen(entry: string, source: MemorySource, section: MemorySection): Screened {
  const found = judgeMemory(entry, source, section).filter(({ action }) => action !== "allow");
  const tags = [`source:${source}`];
  if (found.length === 0) return { text: entry, tags, findings: [] };
  const warnings = [...new Set(found.map(({ rule }) => `warning:${rule}`))];
  if (section.mode === "block") return { text: undefined, tags, findings: found };
  if (section.mode === "warn") return { text: entry, tags: [...tags, ...warnings], findings: found };
  const text = stripped(entry, found);
  // A finding that remains after stripping was not in a sentence of its own: the entry is refused.
  const left = text === "" || judgeMemory(text, source, section).some(({ action }) => action !== "allow");
  return { text: left ? undefined : text, tags: [...tags, "stripped"], findings: found };
}

const INVISIBLE = /^(?:bidi-|zero-width|tag-|hidden-data|filler)/;

/** The text without invisible characters and without the sentences that findings point into. */
function stripped(entry: string, found: readonly Finding[]): string {
  const spans = found.filter(({ rule, span }) => span && !INVISIBLE.test(rule)).map(({ span }) => span!);
  let kept = "";
  let from = 0;
  for (const match of entry.matchAll(/[^.!?\n。！？]*(?:[.!?。！？]+(?:\s+|$)|\n+|$)/g)) {
    const to = match.index + match[0].length;
    if (!spans.some(({ start, end }) => start < to && end > from)) kept += match[0];
    from = to;
  }
  return stripInvisible(kept).trim();
}
