import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { built } from "./tools.mjs";

/** Where the compared tools come from. `npm run bench -- peers` installs missing ones. */
const DEBIAN = ["strace", "ltrace", "gdb", "proot", "bubblewrap", "firejail", "runsc", "ripgrep", "socat"];
const NPM = {
  srt: { wanted: "@anthropic-ai/sandbox-runtime@0.0.83", file: "@anthropic-ai/sandbox-runtime/dist/cli.js" },
  codex: { wanted: "@openai/codex@0.166.0", file: "@openai/codex/bin/codex.js" },
};
const FOLDER = join(built, "peers");

/** The command of a peer from npm, installed or not. */
export const npmFile = (name) => join(FOLDER, "node_modules", NPM[name].file);

/** Installs missing peers where possible. */
export function installPeers({ cannot }) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const name of DEBIAN.filter((one) => !installed(one))) {
    say(`installing ${name}`);
    const done = spawnSync("apt-get", ["install", "-y", "-qq", name], { env, stdio: "ignore" });
    if (done.status !== 0) cannot(name, "apt-get cannot install it");
  }
  if (Object.keys(NPM).every((name) => existsSync(npmFile(name)))) return say("all of npm are there");
  mkdirSync(FOLDER, { recursive: true });
  const wanted = Object.values(NPM).map((one) => one.wanted);
  say(`installing ${wanted.join(" ")} in ${FOLDER}`);
  // All at once: npm removes packages that an earlier call installed and this one does not name.
  spawnSync("npm", ["install", "--no-save", "--prefix", FOLDER, ...wanted], { stdio: "ignore" });
  for (const name of Object.keys(NPM)) if (!existsSync(npmFile(name))) cannot(name, "npm cannot install it");
}

const installed = (name) => spawnSync("dpkg", ["-s", name], { stdio: "ignore" }).status === 0;

function say(text) {
  process.stdout.write(`bench: ${text}\n`);
}
