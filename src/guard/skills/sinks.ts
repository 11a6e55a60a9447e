import type { Span } from "../finding.js";
import { collector } from "../urls/leads.js";

/** The first host in a text that exists to collect what others send. */
export function collectorIn(text: string): (Span & { host: string }) | undefined {
  let count = 0;
  for (const match of text.matchAll(/(?:https?:)?\/\/([\w.-]{4,120})/g)) {
    if (++count > 2000) return undefined;
    const host = collector(match[1]!.toLowerCase());
    if (host) return { host, start: match.index, end: match.index + match[0].length };
  }
  return undefined;
}
