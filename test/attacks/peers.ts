import { spawnSync } from "node:child_process";
import type { Goal } from "./attacks.js";
import type { System } from "./systems.js";

/** Other tools, told to forbid the same. */

const bubblewrap: System = {
  name: "bubblewrap",
  above: 1,
  layout: "arena",
  promises: () => true,
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
      reach: ["--unshare-pid", "--unshare-ipc", "--tmpfs", a.path("server")],
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
  layout: "arena",
  promises: () => true,
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
      reach: [`--blacklist=${a.path("server")}`],
    };
    return ["firejail", "--quiet", "--noprofile", ...options[goal], ...command];
  },
};

const strace: System = {
  name: "strace",
  above: 1,
  layout: "arena",
  promises: () => true,
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
      reach: refuse("kill,tkill,tgkill,ptrace,process_vm_readv,connect"),
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
