import type { Action } from "../finding.js";

/** The rule for a scheme. A scheme that is not listed is judged by its host alone. */
interface SchemeRow {
  readonly schemes: readonly string[];
  readonly rule: string;
  readonly action: Action;
  readonly reason: string;
}

const ROWS: readonly SchemeRow[] = [
  {
    schemes: [
      "file",
      "netdoc",
      "jar",
      "view-source",
      "zip",
      "glob",
      "phar",
      "res",
      "resource",
      "chrome",
      "local_file",
      "url",
      "filesystem",
    ],
    rule: "local-scheme",
    action: "deny",
    reason: "This reads the host's own files, not the network.",
  },
  {
    schemes: [
      "gopher",
      "dict",
      "tftp",
      "ldap",
      "ldaps",
      "ldapi",
      "smb",
      "smbs",
      "telnet",
      "rtsp",
      "imap",
      "imaps",
      "pop3",
      "smtp",
      "smtps",
      "rmi",
      "iiop",
      "corba",
      "netbios",
      "unix",
      "http+unix",
    ],
    rule: "smuggling-scheme",
    action: "deny",
    reason: "Programs that fetch this scheme can be made to talk to any service.",
  },
  {
    schemes: ["javascript", "vbscript", "php", "expect", "ogg", "ssh2", "livescript", "mocha"],
    rule: "script-scheme",
    action: "deny",
    reason: "This runs code where a URL is expected.",
  },
];

const BY_SCHEME = new Map(ROWS.flatMap((row) => row.schemes.map((scheme) => [scheme, row] as const)));

export function schemeRow(scheme: string): SchemeRow | undefined {
  return BY_SCHEME.get(scheme);
}

/** Fetched over the network from the host that they name. */
export function isFetched(scheme: string): boolean {
  return /^(?:|https?|wss?|ftps?)$/.test(scheme);
}

/**
 * Ports of other services than HTTP (the Fetch standard's "bad ports"): such services would read a request as
 * commands.
 */
const BAD_PORTS = new Set(
  (
    "1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 143 " +
    "161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 2375 2379 " +
    "3306 3659 4045 4190 5060 5061 5432 6000 6379 6566 6665 6666 6667 6668 6669 6679 6697 9042 10080 10250 11211 27017"
  ).split(" "),
);

export function isForeignPort(scheme: string, port: string): boolean {
  return /^(?:|https?|wss?)$/.test(scheme) && BAD_PORTS.has(port);
}
