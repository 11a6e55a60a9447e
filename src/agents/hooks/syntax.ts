import { spawnSync } from "node:child_process";
import { isPlainScript } from "./plain-script.js";

const PATIENCE_MS = 5000;

/**
 * The syntax error of a command as a complete bash script; undefined when there is none. The agent's line has its own
 * command behind ours (wrap.ts), perhaps inside braces. A command that closes those braces, such as `x; } & y; {`, would
 * escape being skipped. Such a command is not valid by itself either.
 */
export function syntaxError(command: string): string | undefined {
  if (isPlainScript(command)) return undefined; // without starting bash
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
