import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "./root.js";

export const HERMES = join(root, "hermes");

export interface CliOptions {
  readonly input?: string | Buffer;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly timeout?: number;
}

/** The real command line, waited for. */
export function hermes(args: readonly string[], options: CliOptions = {}): SpawnSyncReturns<string> {
  return spawnSync(HERMES, args, {
    encoding: "utf8",
    timeout: 110_000,
    maxBuffer: 64 * 1024 * 1024,
    ...options,
  });
}

/** The same through a shell, for redirections. */
export function shell(script: string, options: CliOptions = {}): SpawnSyncReturns<string> {
  return spawnSync("bash", ["-c", script.replaceAll("hermes ", `${HERMES} `)], {
    encoding: "utf8",
    timeout: 110_000,
    ...options,
  });
}
