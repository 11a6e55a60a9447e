import type { Finding } from "../finding.js";
import { visible } from "../reading/invisible.js";
import { judgeMemory } from "./layer.js";
import type { MemorySection, Source } from "./section.js";

/** What is to be stored, and what a reader should know about it. */
export interface Screened {
  /** Undefined: the entry is refused. */
  readonly text: string | undefined;
  /** Stored with the entry, e.g. `source:web`, `warning:conceal`. */
  readonly tags: readonly string[];
  readonly findings: readonly Finding[];
}

/** Screens an entry before it is stored, as the section says: block, warn, or strip. */
export function screen(entry: string, source: Source, section: MemorySection): Screened {
  const found = judgeMemory(entry, source, section).filter(({ action }) => action !== "allow");
  const tags = [`source:${source}`];
  if (found.length === 0) return { text: entry, tags, findings: [] };
  const warnings = [...new Set(found.map(({ rule }) => `warning:${rule}`))];
  if (section.mode === "block") return { text: undefined, tags, findings: found };
  if (section.mode === "warn") return { text: entry, tags: [...tags, ...warnings], findings: found };
  const text = stripped(entry, found);
  // What is still there after stripping was not in a sentence of its own: nothing of it can be kept.
  const left = text === "" || judgeMemory(text, source, section).some(({ action }) => action !== "allow");
  return { text: left ? undefined : text, tags: [...tags, "stripped"], findings: found };
}

const INVISIBLE = /^(?:bidi-|zero-width|tag-|hidden-data|filler)/;

/** Without the invisible characters, and without every sentence that a finding points into. */
function stripped(entry: string, found: readonly Finding[]): string {
  const spans = found.filter(({ rule, span }) => span && !INVISIBLE.test(rule)).map(({ span }) => span!);
  let kept = "";
  let from = 0;
  for (const match of entry.matchAll(/[^.!?\n。！？]*(?:[.!?。！？]+(?:\s+|$)|\n+|$)/g)) {
    const to = match.index + match[0].length;
    if (!spans.some(({ start, end }) => start < to && end > from)) kept += match[0];
    from = to;
  }
  return visible(kept).trim();
}
