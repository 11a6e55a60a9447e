import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../support/root.js";
import type { Mode } from "./modes.js";
import type { Part } from "./part.js";
import { type Results, resultsOf } from "./results.js";
import type { Suite } from "./suites.js";

export const folderOf = (suite: Suite) => join(root, "build/suites", suite.name);

const STATUS_ONLY = ["-f=$", "{db:Status-Abbrev}"].join("");

/** Installs the suite's packages, as root, and prepares its folder. */
export function prepare(suite: Suite): void {
  const missing = suite.packages.filter(
    (name) => !/^ii/.test(spawnSync("dpkg-query", ["-W", STATUS_ONLY, name], { encoding: "utf8" }).stdout),
  );
  if (missing.length > 0) {
    if (process.getuid?.() !== 0)
      throw new Error(
        `${suite.name} needs packages that only root can install: apt-get install ${missing.join(" ")}`,
      );
    must(
      spawnSync("apt-get", ["install", "-y", "-q", "--no-install-recommends", ...missing], {
        encoding: "utf8",
      }),
    );
  }
  const folder = folderOf(suite);
  mkdirSync(folder, { recursive: true });
  if (suite.prepare)
    must(
      spawnSync("/bin/sh", ["-ec", suite.prepare], {
        cwd: folder,
        encoding: "utf8",
        env: environment(suite, ""),
      }),
    );
}

function must({ status, stderr, error }: { status: number | null; stderr: string; error?: Error }): void {
  if (status !== 0) throw new Error(error?.message ?? stderr);
}

function environment(suite: Suite, junit: string): NodeJS.ProcessEnv {
  const { PATH = "", HOME = "/", TERM = "dumb" } = process.env;
  return { PATH, HOME, TERM, LC_ALL: "C.UTF-8", SUITE: folderOf(suite), ROOT: root, RESULTS: junit };
}

/** Runs one part in an empty folder: bare, or in a mode. */
export async function run(suite: Suite, part: Part, mode?: Mode): Promise<Results> {
  const folder = mkdtempSync(join(tmpdir(), "suite-"));
  const junit = join(folder, "results.xml");
  const work = join(folder, "work");
  mkdirSync(work);
  const shell = ["/bin/sh", "-c", part.script];
  const command = mode
    ? [
        join(root, "hermes"),
        "run",
        "--quiet",
        "--workspace",
        folder,
        "--keep-env",
        "*",
        ...mode.options,
        "--",
        ...shell,
      ]
    : shell;
  const { stdout, status } = await ended(command, work, environment(suite, junit), part.seconds);
  const results = resultsOf(suite, { stdout, status, junit });
  rmSync(folder, { recursive: true, force: true });
  return results;
}

function ended(
  [file, ...args]: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  seconds: number,
): Promise<{ stdout: string; status: string }> {
  const child = spawn(file!, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "ignore"] });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    let overdue = false;
    const timer = setTimeout(() => {
      overdue = true;
      process.kill(-child.pid!, "SIGKILL");
    }, seconds * 1000);
    child.on("error", reject);
    child.on("exit", () => {
      clearTimeout(timer);
      setTimeout(() => child.stdout.destroy(), 200); // what a suite left behind may hold its output open
    });
    child.on("close", (code, signal) =>
      resolve({
        stdout: Buffer.concat(chunks).toString("latin1"),
        status: overdue ? `did not end in ${seconds} s` : (signal ?? String(code)),
      }),
    );
  });
}
