import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { built, HERMES, root } from "./tools.mjs";

/** Debian packages and npm packages of the peers. `npm run bench -- peers` installs what is missing. */
const DEBIAN = ["strace", "ltrace", "gdb", "proot", "bubblewrap", "firejail", "runsc"];
const NPM = { srt: "@anthropic-ai/sandbox-runtime@0.0.83", codex: "@openai/codex@0.166.0" };
const NPM_FOLDER = join(built, "peers");

const policy = (name) => `${root}policies/${name}.yaml`;
const hermesUnder = (name) => [HERMES, "run", "--quiet", "--policy", policy(name), "--"];

/**
 * The systems that a workload is run under, each with the policy that comes nearest to policies/agent.yaml: changes only
 * in the workspace and in temporary folders, no secrets. `does` says what it does, `lacks` what of that it cannot express.
 */
const SYSTEMS = [
  { name: "bare", does: "nothing", argv: () => [] },
  { name: "HERMES audit", does: "sees and counts, refuses nothing", argv: () => hermesUnder("audit") },
  { name: "HERMES enforce", does: "agent.yaml", argv: () => hermesUnder("agent") },
  {
    name: "strace",
    does: "sees openat, execve, connect",
    lacks: "decides nothing",
    argv: () => ["strace", "-f", "--seccomp-bpf", "-e", "trace=openat,execve,connect", "-o", "/dev/null"],
  },
  { name: "proot", does: "translates paths", lacks: "no policy", argv: () => ["proot", "-r", "/"] },
  {
    name: "bubblewrap",
    does: "read-only root, writable workspace, hidden folders",
    lacks: "patterns, commands, addresses, asking, a record",
    argv: ({ workspace, home }) => [
      ...["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", "/tmp", "/tmp"],
      ...["--bind", workspace, workspace, "--tmpfs", join(home, ".ssh"), "--die-with-parent"],
    ],
  },
  {
    name: "firejail",
    does: "read-only root, writable workspace, blacklisted folders",
    lacks: "commands, asking, a record",
    argv: ({ workspace }) => [
      ...["firejail", "--quiet", "--noprofile", "--read-only=/", `--read-write=${workspace}`],
      "--read-write=/tmp",
    ],
  },
  {
    name: "runsc",
    does: "a kernel of its own, overlay",
    lacks: "patterns, commands, asking",
    argv: () => ["runsc", "--network=host", "--rootless=false", "do"],
  },
  {
    name: "srt",
    does: "read-only root, writable workspace, hidden paths, proxied network",
    lacks: "commands, asking, a record",
    argv: ({ workspace, home }) => [
      process.execPath,
      npmFile("srt"),
      "--settings",
      settingsOf(workspace, home),
    ],
  },
  {
    name: "codex",
    does: "Landlock and seccomp: writable workspace, no network",
    lacks: "secrets, patterns, commands",
    argv: () => [process.execPath, npmFile("codex"), "sandbox", "linux", "--full-auto", "--"],
  },
];

/** Those that run here; of the others it is said why not. */
export function systemsHere(place, wanted) {
  const found = [];
  for (const system of SYSTEMS.filter(({ name }) => !wanted || wanted.includes(name))) {
    const argv = system.argv(place);
    const [program, ...words] = [...argv, "true"];
    const tried = spawnSync(program, words, {
      cwd: place.workspace,
      env: envOf(place),
      encoding: "utf8",
      timeout: 30_000,
    });
    if (tried.status === 0) found.push({ ...system, prefix: argv });
    else
      process.stdout.write(
        `bench: ${system.name} does not run here: ${(tried.stderr || String(tried.error ?? tried.signal)).trim().split("\n")[0]}\n`,
      );
  }
  return found;
}

/** A workspace and a home that have what an agent's have, in a folder that no policy treats as temporary. */
export function makePlace() {
  const folder = mkdtempSync(join(process.env.HOME ?? tmpdir(), ".hermes-bench-"));
  const place = { folder, workspace: join(folder, "workspace"), home: join(folder, "home") };
  for (const path of [place.workspace, join(place.home, ".ssh")]) mkdirSync(path, { recursive: true });
  return { ...place, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** What makes every start of Node slower would hide how much slower we are. */
export function envOf({ workspace, home }) {
  return {
    PATH: process.env.PATH,
    HOME: home,
    HERMES_HOME: home,
    HERMES_WORKSPACE: workspace,
    LANG: "C.UTF-8",
  };
}

const npmFile = (name) =>
  join(
    NPM_FOLDER,
    "node_modules",
    { srt: "@anthropic-ai/sandbox-runtime/dist/cli.js", codex: "@openai/codex/bin/codex.js" }[name],
  );

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

/** Installs what can be had and is not there. */
export function installPeers() {
  const missing = DEBIAN.filter((name) => spawnSync("dpkg", ["-s", name], { stdio: "ignore" }).status !== 0);
  if (missing.length > 0) {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    for (const name of missing)
      if (
        spawnSync(
          "apt-get",
          ["install", "-y", "-qq", name, ...(name === "bubblewrap" ? ["ripgrep", "socat"] : [])],
          { env, stdio: "ignore" },
        ).status !== 0
      )
        process.stdout.write(`bench: ${name} cannot be installed\n`);
  }
  mkdirSync(NPM_FOLDER, { recursive: true });
  for (const [name, wanted] of Object.entries(NPM))
    if (!existsSync(npmFile(name)))
      spawnSync("npm", ["install", "--no-save", "--prefix", NPM_FOLDER, wanted], { stdio: "ignore" });
}
