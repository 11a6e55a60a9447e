import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Arena } from "./arena.js";
import { type Attack, type Goal, ofArena } from "./attacks.js";

/** Something that should keep an attack from its goal. */
export interface System {
  readonly name: string;
  /** How many processes of the system stand above the program. */
  readonly above: number;
  /** The command that runs another under the system, with what a user would tell it to forbid. */
  wrap(command: readonly string[], attack: Attack, arena: Arena, build: string): string[];
}

export type Fence = "none" | "standard" | "strict";
export type DoorName = "auto" | "notify" | "trace";

/** Nobody: two processes above, as a supervisor and a launcher, so that there is somebody to be harmed. */
export const bare: System = {
  name: "bare",
  above: 2,
  wrap: (command) => [ofArena("arena"), "above", ...command],
};

/** The policies, as somebody would write them who knows nothing of attacks. */
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
    `- { id: outside, deny: write, path: "${a.path("outside")}/**", reason: It is to stay as it is. }
- { id: elsewhere, deny: connect, address: 192.0.2.0/24, reason: Every connection is looked at. }`,
};

function writeOnlyAllowed(a: Arena): string {
  return `- { id: allowed, allow: write, path: ["${a.path("allowed")}/**", /dev/null, /dev/tty, /dev/ptmx, "/dev/pts/*"] }
- { id: elsewhere, deny: write, reason: Only this folder is to be changed. }`;
}

export function hermes(door: DoorName, fence: Fence): System {
  return {
    name: `hermes ${door === "auto" ? "" : `${door} `}${fence}`,
    above: 2,
    wrap(command, { goal }, arena, build) {
      const policy = arena.path("policy/policy.yaml");
      const rules = POLICIES[goal](arena).replace(/^/gm, "  ");
      writeFileSync(policy, `name: arena\nrules:\n${rules}\n`);
      const trace = goal === "harm" ? ["--trace", arena.path("policy/trace.jsonl"), "--events", "mkdir"] : [];
      const options = ["-q", "--policy", policy, "--door", door, "--fence", fence, "--orphans", "kill"];
      return [
        process.execPath,
        join(build, "dist/cli/main.cjs"),
        "run",
        ...options,
        ...trace,
        "--env",
        "HIDDEN",
        "--",
        ...command,
      ];
    },
  };
}

const bubblewrap: System = {
  name: "bubblewrap",
  above: 1,
  wrap(command, { goal }, a) {
    const root = goal === "write" || goal === "escape" ? "--ro-bind" : "--bind";
    const options: Readonly<Record<Goal, string[]>> = {
      read: ["--tmpfs", a.path("secret")],
      write: ["--bind", a.path("allowed"), a.path("allowed")],
      connect: ["--unshare-net", "--tmpfs", a.path("server")],
      exec: ["forbidden", "dynamic", "code"].flatMap((n) => ["--ro-bind", "/dev/null", a.path("tools", n)]),
      only: ["--ro-bind", "/dev/null", a.path("tools/forbidden")],
      env: ["--unshare-pid", "--unshare-ipc"],
      escape: ["--bind", a.path("allowed"), a.path("allowed"), "--unshare-pid"],
      harm: ["--unshare-pid", "--tmpfs", a.path("policy")],
    };
    return [
      "bwrap",
      "--die-with-parent",
      root,
      "/",
      "/",
      "--dev",
      "/dev",
      "--proc",
      "/proc",
      ...options[goal],
      "--unsetenv",
      "HIDDEN",
      ...command,
    ];
  },
};

const firejail: System = {
  name: "firejail",
  above: 1,
  wrap(command, { goal }, a) {
    const options: Readonly<Record<Goal, string[]>> = {
      read: [`--blacklist=${a.path("secret")}`],
      write: ["--read-only=/", `--read-write=${a.path("allowed")}`],
      connect: ["--net=none", `--blacklist=${a.path("server")}`],
      exec: ["forbidden", "dynamic", "code"].map((n) => `--blacklist=${a.path("tools", n)}`),
      only: [`--blacklist=${a.path("tools/forbidden")}`],
      env: ["--rmenv=HIDDEN"],
      escape: ["--read-only=/", `--read-write=${a.path("allowed")}`],
      harm: [`--blacklist=${a.path("policy")}`],
    };
    return ["firejail", "--quiet", "--noprofile", ...options[goal], ...command];
  },
};

const strace: System = {
  name: "strace",
  above: 1,
  wrap(command, { goal }, a) {
    const refuse = (calls: string, ...paths: string[]) => [
      ...paths.flatMap((path) => ["-P", path]),
      "-e",
      `trace=${calls}`,
      "-e",
      `inject=${calls}:error=EACCES`,
    ];
    const options: Readonly<Record<Goal, string[]>> = {
      read: refuse("%file", a.path("secret/token"), a.path("secret")),
      write: refuse("%file,write", a.path("outside/file"), a.path("outside")),
      connect: refuse("connect,sendto,sendmsg,sendmmsg"),
      exec: refuse("%file", a.path("tools/forbidden"), a.path("tools/dynamic"), a.path("tools/code")),
      only: refuse("%file", a.path("tools/forbidden")),
      env: refuse("ptrace,process_vm_readv,keyctl,shmat"),
      escape: refuse("%file", a.path("outside/file"), a.path("outside")),
      harm: refuse("kill,tkill,tgkill,ptrace"),
    };
    return ["strace", "-f", "-qq", "-o", "/dev/null", "-E", "HIDDEN", ...options[goal], ...command];
  },
};

/** The others, as far as they are on this machine. */
export function peers(): System[] {
  const programs = { bwrap: bubblewrap, firejail, strace };
  return Object.entries(programs)
    .filter(([program]) => spawnSync(program, ["--version"]).status === 0)
    .map(([, system]) => system);
}
