import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Arena, Layout } from "./arena.js";
import { type Attack, type Goal, ofArena } from "./attacks.js";

/** Something that should keep an attack from its goal. */
export interface System {
  readonly name: string;
  /** How many processes of the system stand above the program. */
  readonly above: number;
  readonly layout: Layout;
  readonly isBare?: boolean;
  /** What it is, for filters and tables: a policy's name, a door, a fence. */
  readonly kind?: { readonly policy: string; readonly door: DoorName; readonly fence: Fence };
  /** Whether it says that it refused to begin: that holds an attack too. */
  refused?(stderr: string): boolean;
  /** Whether the system says that it holds this attack. One that is not promised to be held shows nothing. */
  promises(attack: Attack): boolean;
  /** The command that runs another under the system, with what a user would tell it to forbid. */
  wrap(command: readonly string[], attack: Attack, arena: Arena, build: string): string[];
}

export type Fence = "none" | "standard" | "strict";
export type DoorName = "auto" | "notify" | "trace";

/** No system: two processes above, as a supervisor and a launcher, so that there is something to harm. */
export const bareIn = (layout: Layout): System => ({
  name: "bare",
  above: 2,
  layout,
  isBare: true,
  promises: () => false,
  wrap: (command) => [ofArena("arena"), "above", ...command],
});

/** The policies, as a user would write them who knows nothing of attacks. */
const POLICIES: Readonly<Record<Goal, (arena: Arena) => string>> = {
  read: (a) => `- { id: secret, deny: read, path: "${a.path("secret")}/**", reason: It is secret. }`,
  write: writeOnlyAllowed,
  connect: (a) =>
    `- { id: away, deny: connect, address: [loopback, "unix:${a.path("server/socket")}", "unix:@hermes-arena-*"], reason: Nobody is to be reached. }`,
  exec: (a) =>
    `- { id: tool, deny: [exec, load], path: "${a.path("tools")}/{forbidden,dynamic,code}", reason: It is not to run. }`,
  only: (a) =>
    `- { id: attack, allow: exec, when: { nth: 1 } }
- { id: some, allow: exec, path: ["/usr/**", "${a.path("allowed")}/permitted-*", "${a.path("tools")}/permitted"] }
- { id: others, deny: exec, reason: Nothing else is to run. }`,
  env: () => `- { id: looking, deny: ptrace, reason: Others keep secrets. }
- { id: memory, deny: [read, write], path: ["/proc/*/{environ,mem,maps}", "/proc/*/task/*/{environ,mem,maps}", "!/proc/self/**"], reason: Others keep secrets. }
- { id: mounts, deny: [mount, namespace], reason: Nothing is to be mounted. }
- { id: keys, deny: [keyring, shmat, shmget], reason: Others keep secrets. }`,
  escape: (a) => `${writeOnlyAllowed(a)}
- { id: typing, deny: ioctl, where: { cmd: TIOCSTI }, reason: Keys are for people to press. }`,
  harm: (a) =>
    `- { id: outside, deny: write, path: "${a.path(a.places.outside)}/**", reason: It is to stay as it is. }
- { id: elsewhere, deny: connect, address: 192.0.2.0/24, reason: Every connection is looked at. }`,
  reach: (a) => `- { id: looking, deny: [ptrace, signal], reason: Others are to be left alone. }
- { id: limits, deny: [prlimit64, setpriority, sched_setaffinity, sched_setscheduler, ioprio_set], reason: Others are to be left alone. }
- { id: processes, deny: [read, write, chdir], path: ["/proc/[0-9]*/**", "!/proc/self/**"], reason: Others are to be left alone. }
- { id: terminals, deny: [read, write], path: "/dev/pts/*", reason: Other terminals are not for us. }
- { id: mounts, deny: [mount, namespace], reason: Nothing is to be mounted. }
- { id: queues, deny: [msgget, msgrcv, msgsnd, mq_open, shmget, shmat], reason: Others keep secrets. }
- { id: servers, deny: connect, address: ["unix:**", "unix:@*"], reason: Servers do what they are told. }
- { id: secret, deny: read, path: "${a.path("secret")}/**", reason: It is secret. }
- { id: outside, deny: write, path: "${a.path("outside")}/**", reason: It is to stay as it is. }`,
};

function writeOnlyAllowed(a: Arena): string {
  return `- { id: allowed, allow: write, path: ["${a.path("allowed")}/**", /dev/null, /dev/tty, /dev/ptmx, "/dev/pts/*"] }
- { id: elsewhere, deny: write, reason: Only this folder is to be changed. }`;
}

export function hermes(door: DoorName, fence: Fence): System {
  return {
    name: `hermes ${door === "auto" ? "" : `${door} `}${fence}`,
    above: 3,
    layout: "arena",
    kind: { policy: "arena", door, fence },
    promises: () => true,
    wrap(command, { goal }, arena, build) {
      const policies = ["--policy", policyOf(goal, arena)];
      return run(build, [...policies, ...optionsOf(door, fence), ...traceOf(goal, arena)], command);
    },
  };
}

/** The file of the arena's own policy. */
export function policyOf(goal: Goal, arena: Arena): string {
  const policy = arena.path("policy/policy.yaml");
  const rules = POLICIES[goal](arena).replace(/^/gm, "  ");
  writeFileSync(policy, `name: arena\nrules:\n${rules}\n`);
  return policy;
}

/** A strict fence cleans the environment: without A_* no attack would know where the arena is. */
export const optionsOf = (door: DoorName, fence: Fence): string[] => [
  "--door",
  door,
  "--fence",
  fence,
  "--orphans",
  "kill",
  "--keep-env",
  "A_*",
];

/** There is a trace to be harmed. */
export const traceOf = (goal: Goal, arena: Arena): string[] =>
  goal === "harm" ? ["--trace", arena.path("policy/trace.jsonl"), "--events", "mkdir"] : [];

export const run = (build: string, options: readonly string[], command: readonly string[]): string[] => [
  process.execPath,
  join(build, "dist/cli/main.cjs"),
  "run",
  "-q",
  ...options,
  "--env",
  "HIDDEN",
  "--",
  ...command,
];
