// V8's code cache of the bundles that must start fast, stored beside them.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Typical first calls of programs, so that deciding on them is compiled too. */
const PROGRAM = ["sh", "-c", "ls -l / >/dev/null; cat /etc/passwd >/dev/null; chroot --version 2>&1; true"];
/** A typical command of an agent. */
const COMMAND = "ls -l | sort && wc -l *.yaml";
/** A typical policy. */
const OWN = `name: own
extends: workspace
rules:
  - id: no-notes
    deny: [read, write]
    path: ["~/notes/**", "!~/notes/open/*"]
    reason: They are nobody's business.
    examples: { match: [{ read: ~/notes/a }], not_match: [{ read: ~/notes/open/a }] }
  - id: no-mail
    deny: connect
    address: "*:25"
  - id: no-push
    deny: exec
    argv_matches: '^git push'
`;
const CALL = { tool_name: "Bash", tool_input: { command: "git status && npm test" } };

/**
 * Each cache is recorded after a run, so that it holds exactly what a run needs. V8 checks only the length of a bundle's
 * text, so the caches are rebuilt with every bundle. Returns what failed.
 */
export function precompile() {
  const home = mkdtempSync(join(tmpdir(), "hermes-build-"));
  const hook = JSON.stringify({ session_id: "build", cwd: home, hook_event_name: "PreToolUse", ...CALL });
  const own = join(home, "own.yaml");
  writeFileSync(own, OWN);
  const runs = [
    [["hook", "claude-code"], hook],
    [["run", "-p", "policies/agent.yaml", "--", ...PROGRAM], ""],
    [["run", "-p", own, "--", "sleep", "0.2"], ""],
    [["exec", "-w", home, "--store", join(home, "store.db"), "--ask", "no", COMMAND], ""],
    [["trace", "-c", "-p", own, "--", ...PROGRAM], ""],
  ];
  try {
    for (const [words, input] of runs) {
      const { status, stderr } = spawnSync(
        process.execPath,
        ["-r", "./scripts/precompile.cjs", "dist/cli/main.cjs", ...words],
        { env: { PATH: process.env.PATH, HOME: home, HERMES_HOME: home }, input, encoding: "utf8" },
      );
      if (status !== 0) return `hermes ${words[0]} could not be compiled before (${stderr.trim()})`;
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  return undefined;
}
