import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { npmFile } from "./peers.mjs";
import { optionsOf } from "./place.mjs";
import { HERMES, root } from "./tools.mjs";

const policy = (name) => `${root}policies/${name}.yaml`;
const hermesUnder = (name, ...flags) => [HERMES, "run", "--quiet", ...flags, "--policy", policy(name), "--"];

/**
 * The systems that programs run under, each with the policy closest to policies/agent.yaml: writes only in the workspace
 * and in temporary folders, no secrets. `does` says what it does, `lacks` what it cannot express. `works` distinguishes
 * systems that inspect calls at run time from those that only configure the kernel at the start. What a program writes
 * under a system that `discards` it cannot be checked afterwards.
 */
export const SYSTEMS = [
  { name: "bare", does: "nothing", argv: () => [] },
  {
    name: "HERMES free",
    works: "at each call",
    does: "has no policy: defends itself, reports the end",
    argv: () => [HERMES, "run", "--quiet", "--"],
  },
  {
    name: "HERMES strict",
    works: "at the start",
    does: "no policy, a strict fence: read-only root, writable workspace, no network",
    argv: () => [HERMES, "run", "--quiet", "--fence", "strict", "--"],
  },
  {
    name: "HERMES audit",
    works: "at each call",
    does: "sees and counts, refuses nothing",
    argv: () => hermesUnder("audit"),
  },
  {
    name: "HERMES enforce",
    works: "at each call",
    does: "agent.yaml: paths by pattern, commands, addresses, asking, a record",
    argv: () => hermesUnder("agent"),
  },
  {
    name: "HERMES strict enforce",
    works: "at each call",
    does: "agent.yaml and a strict fence",
    argv: () => hermesUnder("agent", "--fence", "strict"),
  },
  {
    name: "strace",
    works: "at each call",
    does: "sees openat, execve, connect",
    lacks: "decisions",
    argv: () => ["strace", "-f", "--seccomp-bpf", "-e", "trace=openat,execve,connect", "-o", "/dev/null"],
  },
  {
    name: "proot",
    works: "at each call",
    does: "translates paths",
    lacks: "policy",
    argv: () => ["proot", "-r", "/"],
  },
  {
    name: "runsc",
    works: "at each call",
    does: "a kernel of its own, writes go to an overlay",
    lacks: "patterns, commands, asking or files that stay",
    discards: true,
    argv: () => ["runsc", "--network=host", "--rootless=false", "do"],
  },
  {
    name: "bubblewrap",
    works: "at the start",
    does: "read-only root, writable workspace, hidden folders",
    lacks: "patterns, commands, addresses, asking or record",
    argv: ({ workspace, home }) => [
      ...["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", "/tmp", "/tmp"],
      ...["--bind", workspace, workspace, "--tmpfs", join(home, ".ssh"), "--die-with-parent"],
    ],
  },
  {
    name: "firejail",
    works: "at the start",
    does: "read-only root, writable workspace, blacklisted folders",
    lacks: "commands, asking or record",
    argv: ({ workspace }) => [
      ...["firejail", "--quiet", "--noprofile", "--read-only=/", `--read-write=${workspace}`],
      "--read-write=/tmp",
    ],
  },
  {
    name: "srt",
    works: "at the start",
    does: "read-only root, writable workspace, hidden paths, network by a proxy",
    lacks: "commands, asking or record",
    argv: ({ workspace, home }) => [
      process.execPath,
      npmFile("srt"),
      "--settings",
      settingsOf(workspace, home),
      "--",
    ],
  },
  {
    name: "codex",
    works: "at the start",
    does: "read-only root, writable workspace, no network",
    lacks: "secrets, patterns, commands or record",
    argv: () => [process.execPath, npmFile("codex"), "sandbox", "-c", 'sandbox_mode="workspace-write"', "--"],
  },
];

export const PEERS = SYSTEMS.map(({ name }) => name).filter((name) => !/^(bare|HERMES)/.test(name));

/** The systems that run here; missing ones are reported with the reason. `wanted`: names, or all. */
export function systemsHere(place, wanted, cannot) {
  const found = [];
  for (const system of SYSTEMS.filter(({ name }) => !wanted || wanted.includes(name))) {
    const prefix = system.argv(place);
    const [program, ...words] = [...prefix, "true"];
    const options = { ...optionsOf(place), encoding: "utf8", timeout: 30_000 };
    const tried = spawnSync(program, words, options);
    if (tried.status === 0) found.push({ ...system, prefix });
    else cannot(system.name, whyNot(prefix, tried));
  }
  return found;
}

function whyNot(prefix, { error, stderr, status, signal }) {
  const lacking = prefix.find((word, i) => i < 2 && word.startsWith("/") && !existsSync(word));
  if (error?.code === "ENOENT" || lacking) return "not installed (npm run bench -- peers)";
  const said = stderr?.trim().split("\n")[0] ?? "";
  return `does not run here: ${said || error?.message || `ended with ${status ?? signal}`}`.slice(0, 300);
}

function settingsOf(workspace, home) {
  const file = join(home, "srt.json");
  writeFileSync(
    file,
    JSON.stringify({
      filesystem: { denyRead: [join(home, ".ssh")], allowWrite: [workspace, "/tmp"], denyWrite: [] },
      network: { allowedDomains: [], deniedDomains: [] },
    }),
  );
  return file;
}
