import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile, HERMES } from "./both-ways.js";
import { EXPLAINED } from "./explained.js";

/** Runs test/transparency/programs/arguments.c bare and mediated, and compares each call's result. */

export function arguments_(words: readonly string[], options?: readonly string[]): string[] {
  const program = compile("arguments");
  const folder = mkdtempSync(join(tmpdir(), "arguments-"));
  const command = options ? [HERMES, "run", "--quiet", ...options, "--", program] : [program];
  const { stdout, stderr, status } = spawnSync(command[0]!, [...command.slice(1), ...words], {
    cwd: folder,
    encoding: "latin1",
    maxBuffer: 1 << 26,
    env: { PATH: "/usr/bin:/bin", HOME: folder, LC_ALL: "C.UTF-8" },
  });
  rmSync(folder, { recursive: true, force: true });
  if (status !== 0) throw new Error(`the program ended with ${status}: ${stderr}`);
  return stdout.trimEnd().split("\n");
}

/** The lines in which the mediated run differs without an explanation. */
export function differences(bare: readonly string[], mediated: readonly string[]): string[] {
  if (bare.length !== mediated.length) return [`${bare.length} calls bare, ${mediated.length} mediated`];
  return bare.flatMap((line, i) => {
    const [call = "", result = ""] = line.split(" = ");
    const [, other = ""] = mediated[i]!.split(" = ");
    const isKnown = EXPLAINED.some(
      (known) => known.call.test(call) && known.bare.test(result) && known.mediated.test(other),
    );
    return result === other || isKnown ? [] : [`${call}: ${result}, mediated ${other}`];
  });
}
