import { parse as parseDomain } from "tldts";
import type { Action, Span } from "../finding.js";

/** A URL or host inside text. */
interface TextLink extends Span {
  readonly url: string;
  readonly host: string;
}

const URL_IN_TEXT = /\b(?:https?|ftp|wss?):\/\/([^\s<>"'`)\]}|\\^]{1,2000})/giu;

export function linksIn(text: string): TextLink[] {
  const found: TextLink[] = [];
  for (const match of text.matchAll(URL_IN_TEXT)) {
    const authority = match[1]!.split(/[/?#]/)[0]!;
    const host = authority
      .slice(authority.lastIndexOf("@") + 1)
      .replace(/:\d*$/, "")
      .replace(/[.,;:!?*_]+$/, "");
    found.push({ url: match[0], host, start: match.index, end: match.index + match[0].length });
    if (found.length === 256) break;
  }
  return found;
}

interface Mismatch extends Span {
  readonly rule: string;
  readonly action: Action;
  readonly reason: string;
}

const MARKDOWN = /\[([^\]\n]{3,300})\]\(\s{0,2}<?(https?:\/\/[^)\s>]{3,1000})/gi;
const HTML =
  /<a\s[^>]{0,300}?href\s{0,2}=\s{0,2}["']?(https?:\/\/[^"'\s>]{3,1000})[^>]{0,300}>([^<]{3,300})</gi;
const SHOWN =
  /^\s{0,4}(?:https?:\/\/)?((?:[\p{L}\d-]{1,63}\.){1,6}[\p{L}]{2,24})(?::\d+)?(?:\/\S*)?\s{0,4}$/iu;

/** Links whose text names one host and whose target is another. */
export function mismatches(text: string): Mismatch[] {
  const pairs = [
    ...[...text.matchAll(MARKDOWN)].map((m) => ({
      label: m[1]!,
      target: m[2]!,
      index: m.index,
      length: m[0].length,
    })),
    ...[...text.matchAll(HTML)].map((m) => ({
      label: m[2]!,
      target: m[1]!,
      index: m.index,
      length: m[0].length,
    })),
  ];
  return pairs.slice(0, 256).flatMap(({ label, target, index, length }) => {
    const shown = SHOWN.exec(label)?.[1]?.toLowerCase();
    const shownDomain = shown === undefined ? undefined : parseDomain(shown);
    if (
      !shownDomain?.isIcann ||
      (/\.(?:md|py|rs|sh|js|ts|io|pl|cc|so|zip|java|mov|inc|app|run|call|name|map|id)$/.test(shown ?? "") &&
        !label.includes("://"))
    )
      return [];
    const led = parseDomain(target);
    const leads = led.isIp ? led.hostname : led.domain;
    // A file or folder whose name looks like a host.
    if (!leads || leads === shownDomain.domain || target.includes(`/${label.trim()}`)) return [];
    return [
      {
        rule: "link-mismatch",
        action: "deny" as const,
        reason: `This link reads ${shownDomain.domain} and leads to ${leads}.`,
        start: index,
        end: index + length,
      },
    ];
  });
}
