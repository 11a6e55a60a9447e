#!/usr/bin/env node
// Builds the native part, dist/native: the addon that the supervisor loads and the launcher that it starts. Needs gcc
// and nothing else, so that it also serves where the package was installed and what came with it cannot be loaded.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

export const CFLAGS = [
  "-O2",
  "-std=gnu11",
  "-Wall",
  "-Wextra",
  "-Werror",
  "-fstack-protector-strong",
  "-D_FORTIFY_SOURCE=2",
];

/** The folders of native/ that each program is linked from. Every C file in them belongs to it. */
const LAUNCHER_FOLDERS = ["launcher", "broker", "fastpath"];
const ADDON_FOLDERS = ["addon", "session", "doors", "scan"];
/** The resident process and its callers. */
const RESIDENT_FOLDERS = ["resident"];
/** Linked into both: the broker acts for a program, and where there is none (attach), the supervisor does. */
const SHARED_FOLDERS = ["kernel", "tracee", "on-behalf"];

const sources = (folders) =>
  folders.flatMap((folder) =>
    readdirSync(`${root}native/${folder}`)
      .filter((file) => file.endsWith(".c"))
      .map((file) => `native/${folder}/${file}`),
  );

export const LAUNCHER = sources([...LAUNCHER_FOLDERS, ...SHARED_FOLDERS]);
export const RESIDENT = [
  ...sources(RESIDENT_FOLDERS),
  ...["exchange", "fd-message", "place"].map((name) => `native/kernel/${name}.c`),
];
export const ADDON = sources([...ADDON_FOLDERS, ...SHARED_FOLDERS]);

/** Node's headers: from the package that developers have, or those that were shipped. */
export const HEADERS = ["node_modules/node-api-headers/include", "dist/native/include"].find((folder) =>
  existsSync(`${root}${folder}`),
);

/** Returns what went wrong, or undefined. */
export function buildNative({ quiet = false } = {}) {
  if (process.platform !== "linux" || process.arch !== "x64")
    return `there is no native part for ${process.platform}-${process.arch}`;
  if (!HEADERS) return "node-api-headers is missing. Run npm ci first.";
  mkdirSync(`${root}dist/native`, { recursive: true });
  const libraries = ["-lpthread", "-lrt"];
  return (
    gcc(quiet, "-shared", "-fPIC", "-I", HEADERS, "-o", "dist/native/hermes.node", ...ADDON, ...libraries) ??
    // Static, so that it also starts in a container whose image has another C library, or none.
    gcc(quiet, "-static-pie", "-s", "-o", "dist/native/hermes-launch", ...LAUNCHER, "-lpthread", "-lrt") ??
    gcc(quiet, "-s", "-o", "dist/native/hermes-resident", ...RESIDENT)
  );
}

function gcc(quiet, ...words) {
  const { status, error } = spawnSync("gcc", [...CFLAGS, ...words], {
    cwd: root,
    stdio: ["ignore", quiet ? "ignore" : "inherit", "inherit"],
  });
  if (error)
    return `gcc cannot be started (${error.code}). Install it, for example with: apt-get install gcc libc6-dev`;
  return status === 0 ? undefined : "gcc failed";
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const failure = buildNative();
  process.stderr.write(failure ? `build: ${failure}\n` : "build: the native part is in dist/native\n");
  process.exitCode = failure ? 1 : 0;
}
