import { spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildTools } from "./tools.mjs";

const SECONDS_AT_MOST = 120;
/** The exit status of timeout(1). */
const TIMED_OUT = 124;

/**
 * Runs a command to its end. Returns wall clock and CPU in ms and peak memory in MB, of all processes and (`own`) of the
 * started process alone, which is the supervisor if there is one. A failed command gives no figure. `uid` and `gid`: whom
 * it runs as.
 */
export function measured(argv, { cwd, env, uid, gid, stdio = ["ignore", "ignore", "pipe"] } = {}) {
  const { measure } = buildTools();
  const folder = mkdtempSync(join(tmpdir(), "hermes-measured-"));
  try {
    const file = join(folder, "figures");
    if (uid !== undefined) chownSync(folder, uid, gid);
    const options = { cwd, env, uid, gid, stdio, encoding: "utf8", maxBuffer: 2 ** 28 };
    const done = spawnSync("timeout", ["-k", "5", String(SECONDS_AT_MOST), measure, file, ...argv], options);
    if (done.status === TIMED_OUT) throw new Error(`it takes more than ${SECONDS_AT_MOST} s`);
    if (done.status !== 0) throw new Error(`exit ${done.status ?? done.signal}: ${complaint(done.stderr)}`);
    const [wall, cpu, peak, ownCpu, ownPeak] = readFileSync(file, "utf8").split(" ").map(Number);
    return {
      ...{ wall: wall / 1e6, cpu: cpu / 1e6, peak: peak / 1024 },
      ...{ ownCpu: ownCpu / 1e6, ownPeak: ownPeak / 1024 },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The most telling line of a program's output: the first with an error, else the last. */
export function complaint(text) {
  const lines = text?.trim().split("\n") ?? [];
  const line =
    lines.find((one) => /error|denied|cannot|refus|not permitted/i.test(one)) ?? lines.at(-1) ?? "";
  return line.slice(0, 200);
}
