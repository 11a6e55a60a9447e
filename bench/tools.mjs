import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));
export const built = `${root}build/bench`;
export const HERMES = `${root}hermes`;
export const STRACE = ["strace", "-f", "--seccomp-bpf", "-e", "trace=openat", "-o", "/dev/null"];

/** Once per run of the harness. */
let tools;

/** Compiles the workload and the reference supervisors. Returns their paths by name. */
export function buildTools() {
  tools ??= compile();
  return tools;
}

const SOURCES = [
  ...["programs/calls", "programs/crowd", "programs/files", "programs/functions", "programs/measure"],
  ...["reference/act", "reference/allow", "reference/notify", "reference/stop", "reference/trace"],
];

function compile() {
  mkdirSync(built, { recursive: true });
  const flags = ["-O2", "-std=gnu11", "-pthread", "-Wall", "-Wextra", "-Werror", "-fno-builtin"];
  return Object.fromEntries(
    SOURCES.map((source) => {
      const name = source.slice(source.indexOf("/") + 1);
      const program = `${built}/${name}`;
      execFileSync("gcc", [...flags, "-o", program, `${root}bench/${source}.c`], { stdio: "inherit" });
      return [name, program];
    }),
  );
}

export function policyFile(name) {
  return `${root}bench/policies/${name}.ts`;
}

export function hermes(door, policy, ...options) {
  return [HERMES, "run", "--quiet", "--door", door, "--policy", policyFile(policy), ...options, "--"];
}

/** Variables that slow down every start of Node would hide our own overhead. */
const { NODE_OPTIONS: _, NODE_EXTRA_CA_CERTS: __, ...env } = process.env;

/** Runs a command to its end. A failure ends the benchmark: a number without a run means nothing. */
export function run([command, ...args]) {
  const done = spawnSync(command, args, { encoding: "utf8", env, stdio: ["ignore", "pipe", "pipe"] });
  if (done.error || done.status !== 0)
    throw new Error(`${command} ${args.join(" ")}: ${done.error ?? `exit ${done.status}: ${done.stderr}`}`);
  return done;
}

export function available(command) {
  return !spawnSync(command, ["--version"], { stdio: "ignore" }).error;
}

/** The number of instructions of such a session's filter. */
export function filterLength(door, policy) {
  const words = [HERMES, "run", "--json", "--door", door, "--policy", policyFile(policy), "--", "true"];
  return JSON.parse(run(words).stderr).protections.filterInstructions;
}
