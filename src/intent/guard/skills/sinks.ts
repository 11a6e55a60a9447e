import type { Span } from "../finding.js";
import { collectorService } from "../urls/nested-urls.js";

/** Tunnels into private machines: their operator is unknown. */
const TUNNELS =
  /(?:^|\.)(?:ngrok\.(?:io|app|dev)|ngrok-free\.(?:app|dev)|trycloudflare\.com|loca\.lt|localtunnel\.me|localhost\.run|lhr\.(?:life|rocks)|serveo\.net|pagekite\.me|bore\.pub|tunnelmole\.net|playit\.gg|devtunnels\.ms|zrok\.io|pinggy\.(?:io|link|online)|telebit\.io|packetriot\.net|duckdns\.org|no-ip\.(?:org|com|biz)|ddns\.net|hopto\.org)$/;
/** Hosts that accept files or text anonymously. */
const DROPS =
  /(?:^|\.)(?:transfer\.sh|file\.io|0x0\.st|bashupload\.com|temp\.sh|anonfiles\.com|gofile\.io|catbox\.moe|paste\.ee|pastebin\.com|hastebin\.com|dpaste\.(?:org|com)|rentry\.co|ix\.io|termbin\.com|glot\.io)$/;
/** Messengers that can carry data away. */
const CHANNELS = /^(?:api\.telegram\.org|discord(?:app)?\.com)$/;

export interface Endpoint extends Span {
  readonly host: string;
  /** `collector` shows its owner every request; the operators of the others are unknown. */
  readonly kind: "collector" | "tunnel" | "drop" | "channel" | "address";
}

/** The first host in a text that serves to carry data away. */
export function endpointIn(text: string): Endpoint | undefined {
  let count = 0;
  let other: Endpoint | undefined;
  for (const match of text.matchAll(
    /(?:https?|wss?|ftp|tcp)?:?\/\/(?:[^\s/@"'`]{1,80}@)?([\w.-]{4,120})([^\s"'`]{0,40})/g,
  )) {
    if (++count > 2000) break;
    const kind = kindOf(match[1]!.toLowerCase(), match[2]!);
    if (!kind) continue;
    const found = { host: match[1]!, kind, start: match.index, end: match.index + match[0].length };
    if (kind === "collector") return found;
    other ??= found;
  }
  return other;
}

function kindOf(host: string, path: string): Endpoint["kind"] | undefined {
  if (collectorService(host)) return "collector";
  if (TUNNELS.test(host)) return "tunnel";
  if (DROPS.test(host)) return "drop";
  if (CHANNELS.test(host)) return /^\/(?:bot|api\/webhooks)/.test(path) ? "channel" : undefined;
  return isPublicAddress(host) ? "address" : undefined;
}

/** An internet address without a name. */
function isPublicAddress(host: string): boolean {
  const [a = 0, b = 0, , d] = host.split(".").map(Number);
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(host) || d === undefined) return false;
  return !(
    a === 0 ||
    a === 10 ||
    a === 127 ||
    a >= 224 ||
    (a === 172 && b >= 16 && b < 32) ||
    (a === 192 && b === 168) ||
    (a === 169 && b === 254)
  );
}
