import { spawnSync } from "node:child_process";

const PATIENCE_MS = 5000;

/**
 * What is wrong with a command as a whole script of its own, as bash itself says; undefined when nothing is. What an agent
 * runs has its own command behind ours (wrap.ts), perhaps inside brackets of the agent's: one that closed them, `x; } & y; {`,
 * would not be left out any more. No shell would run it alone either.
 */
export function syntaxError(command: string): string | undefined {
  const { status, error, stderr } = spawnSync("bash", ["--norc", "--noprofile", "-n", "-c", "--", command], {
    env: { PATH: process.env.PATH },
    encoding: "utf8",
    timeout: PATIENCE_MS,
  });
  if (error) return error.message;
  return status === 0
    ? undefined
    : (stderr.split("\n")[0] ?? "").replace(/^bash: (?:-c: )?/, "") || "bash refuses it";
}
