import { basename } from "node:path";
import { escapeControl } from "../../nouns/text.js";
import { PACKAGE_VERSION } from "../../nouns/version.js";
import type { Capability } from "./capabilities.js";
import type { Inspection } from "./report.js";

/** Something to refuse when a program has no means for it. */
interface Denial {
  readonly id: string;
  /** Capabilities that speak against it. */
  readonly unless: readonly string[];
  readonly words: string;
  readonly more?: readonly string[];
  readonly errno?: string;
  readonly what: string;
}

const DENIALS: readonly Denial[] = [
  {
    id: "network",
    unless: ["connect", "listen", "resolve", "tls", "raw-network", "io-uring"],
    words: "[connect, bind]",
    more: ["address: [internet, packet, vsock, other]"],
    errno: "ENETUNREACH",
    what: "reaches a network",
  },
  {
    id: "listening",
    unless: ["listen", "raw-network", "io-uring"],
    words: "bind",
    more: ["address: [internet, packet, vsock, other]"],
    errno: "EACCES",
    what: "takes connections",
  },
  // The first exec of a run is the start of the program.
  {
    id: "programs",
    unless: ["exec"],
    words: "exec",
    more: ["when: { from: 2 }"],
    what: "starts other programs",
  },
  { id: "processes", unless: ["look-into-processes"], words: "ptrace", what: "looks into other processes" },
  { id: "mounts", unless: ["mounts"], words: "mount", what: "mounts anything" },
  { id: "namespaces", unless: ["namespaces", "sandbox"], words: "namespace", what: "makes namespaces" },
  { id: "kernel", unless: ["kernel"], words: "[kernel, settime]", what: "changes the kernel" },
  { id: "users", unless: ["privileges", "sandbox"], words: "setuid", what: "changes users" },
];

/**
 * What a program has no means for is refused; what only a library of it has the means for, asked about; the rest is left
 * to those who know the program. Too strict is possible, since code that is loaded later is not seen.
 */
export function suggestedPolicy(report: Inspection): string {
  const by = new Map(report.capabilities.map((capability) => [capability.id, capability]));
  const name = basename(report.file).replace(/[^\w.-]/g, "-") || "program";
  const rules = DENIALS.flatMap((denial) => ruleFor(denial, by));
  // What is refused as a whole need not be refused in part.
  const whole = rules.some(({ id, action }) => id === "network" && action === "deny");
  return `${[
    `# Suggested by hermes ${PACKAGE_VERSION} from the file alone. What it has no means for is refused; what only a library that it`,
    "# needs has the means for is asked about; the rest is allowed. What a run really does: hermes learn.",
    ...doubts(report, by).map((line) => `# ${line}`),
    `name: ${JSON.stringify(`suggested-${name}`)}`,
    `description: ${JSON.stringify(`What ${name} has no means for is refused.`)}`,
    "rules:",
    [SECRETS, ...rules.filter(({ id }) => !(whole && id === "listening")).map(({ text }) => text)].join(
      "\n\n",
    ),
  ].join("\n")}\n`;
}

const SECRETS = `  - id: secrets
    deny: read
    path: ["~/.ssh/**", "~/.gnupg/**", "~/.aws/**", "~/.{netrc,npmrc,pypirc,git-credentials}", "/etc/{shadow,gshadow}"]
    reason: These are secrets; take this rule away if the program is for them.`;

function ruleFor(denial: Denial, by: ReadonlyMap<string, Capability>) {
  const means = denial.unless.map((id) => by.get(id)).filter((capability) => capability !== undefined);
  if (means.some((capability) => capability.by === "program")) return [];
  const action = means.length === 0 ? "deny" : "ask";
  const libraries = new Set(
    means.flatMap(({ evidence }) =>
      evidence.map((each) => (each.kind === "import" ? (each.library ?? "") : "")),
    ),
  );
  const reason =
    action === "deny"
      ? `Nothing in this program ${denial.what}.`
      : `Of this program, only ${escapeControl([...libraries].slice(0, 3).join(", "))} ${denial.what}.`;
  const lines = [
    `  - id: ${denial.id}`,
    `    ${action}: ${denial.words}`,
    ...(denial.more ?? []).map((line) => `    ${line}`),
    ...(action === "deny" && denial.errno !== undefined ? [`    errno: ${denial.errno}`] : []),
    `    reason: ${JSON.stringify(reason)}`,
  ];
  return [{ id: denial.id, action, text: lines.join("\n") }];
}

/** What the file could not tell. */
function doubts(report: Inspection, has: ReadonlyMap<string, Capability>): string[] {
  const unproven = report.syscalls?.sites.filter(({ unproven }) => unproven === "unknown").length ?? 0;
  const missing = report.libraries
    .filter(({ path }) => path === undefined)
    .map(({ name }) => escapeControl(name));
  return [
    ...(unproven > 0 ? [`${unproven} of its system calls could be any.`] : []),
    ...(has.has("load-code") ? ["It loads code while it runs: what that can do is not known here."] : []),
    ...(has.has("exec") ? ["It starts other programs, to which these rules apply too."] : []),
    ...(report.packing.hints.length > 0
      ? ["It may be packed: then the file tells little of what it does."]
      : []),
    ...(missing.length > 0 ? [`Not found here, so not looked at: ${missing.slice(0, 8).join(", ")}.`] : []),
    ...(report.syscalls === undefined ? ["Its machine code was not looked at."] : []),
  ];
}
