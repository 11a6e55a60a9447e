import { sockoptTable } from "./flags.js";

const SOL_SOCKET = 1;
const SCM: Readonly<Record<number, string>> = {
  1: "SCM_RIGHTS",
  2: "SCM_CREDENTIALS",
  3: "SCM_SECURITY",
  4: "SCM_PIDFD",
};

/** What a control message of sendmsg(2) is called: `SCM_RIGHTS`, `IP_RETOPTS`; `132:7` for what has no name here. */
export function controlName(level: number, type: number): string {
  const named = level === SOL_SOCKET ? SCM[type] : undefined;
  if (named !== undefined) return named;
  const table = level === SOL_SOCKET ? undefined : sockoptTable(level);
  const found = table && Object.entries(table.values).find(([, value]) => value === type);
  return found?.[0] ?? `${level}:${type}`;
}

/**
 * Control messages that lead a packet elsewhere than its address says: source routes of IPv4 (ip_cmsg_send) and IPv6
 * (ip6_datagram_send_ctl), and further addresses of an SCTP peer. native/on-behalf/send.c has the same.
 */
const ROUTES: ReadonlySet<string> = new Set(["IP_RETOPTS", "IPV6_RTHDR", "IPV6_2292RTHDR", "132:7", "132:8"]);

export function isRoute(control: string): boolean {
  return ROUTES.has(control);
}
