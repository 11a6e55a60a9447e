import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HERMES, hermes } from "../support/cli.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-shell-"));
  writeFileSync(join(folder, ".bashrc"), "PS1='own> '\n");
  writeFileSync(
    join(folder, "policy.yaml"),
    `name: tried
default: allow
rules:
  - { id: no-date, deny: exec, argv: ["**/date", "**"], reason: No dates. }
  - { id: ask-id, ask: exec, argv: ["**/id", "**"], reason: Who asks? }
`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a person at a terminal sees who types each second word when the first has appeared. */
function typed(steps: readonly (readonly [seen: string, typed: string])[], ...args: string[]) {
  const driver = join(import.meta.dirname, "drive.py");
  const { stdout } = spawnSync("python3", [driver, JSON.stringify(steps), HERMES, "shell", ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, TERM: "dumb" },
    encoding: "utf8",
    timeout: 100_000,
  });
  return stdout;
}

const PROMPT = "(hermes) own> ";

describe("hermes shell", () => {
  it("is the user's own bash with a prompt that says where one is, and ends as it does", () => {
    const seen = typed([
      [PROMPT, "echo $((20+22)) $-\n"],
      [PROMPT, "exit 7\n"],
    ]);
    expect(seen).toMatch(/42 \w*i\w*m/); // interactive, with job control
    expect(seen).not.toContain("no job control");
    expect(seen).toContain("left 0 status 7");
  });

  it("holds what is typed to the policy, and asks on the terminal", () => {
    const seen = typed(
      [
        [PROMPT, "date; echo was=$?\n"],
        ["was=126", "id -u\n"],
        ["Enter is no", "y\n"],
        [PROMPT, "id -u; echo was=$?\n"],
        ["Enter is no", "\n"],
        ["was=126", "exit\n"],
      ],
      "-p",
      "policy.yaml",
    );
    expect(seen).toMatch(new RegExp(`\n${process.getuid!()}\r+\n`));
    expect(seen).toContain("left 0");
  });

  it("has jobs: they stop, come back, run in the background and are interrupted", () => {
    const seen = typed([
      [PROMPT, "sh -c 'echo be''gun; read x; echo got=$x; exit 5'\n"],
      ["begun", "\x1a"],
      ["Stopped", "fg\n"],
      [PROMPT, "hello\n"],
      ["got=hello", "echo was=$?\n"],
      ["was=5", "sleep 300 &\n"],
      [PROMPT, "jobs\n"],
      ["Running", "kill %1\n"],
      [PROMPT, "sh -c 'echo be''gun; exec sleep 300'\n"],
      ["begun", "\x03"],
      [PROMPT, "echo was=$?\n"],
      ["was=130", "exit 0\n"],
    ]);
    expect(seen).toContain("left 0 status 0");
  });

  it("puts a policy into force that is saved while it runs; from inside it cannot be changed", () => {
    const policy = (action: string) =>
      `name: live\nrules:\n  - { id: who, ${action}: exec, argv: ["**/whoami"] }\n`;
    writeFileSync(join(folder, "live.yaml"), policy("deny"));
    writeFileSync(join(folder, "loose.yaml"), policy("allow"));
    const saving = spawn("sh", ["-c", "until [ -e go ]; do sleep 0.1; done; cat loose.yaml > live.yaml"], {
      cwd: folder,
    });
    const seen = typed(
      [
        [PROMPT, "whoami; echo was=$?\n"],
        ["was=126", "echo > live.yaml\n"],
        ["not permitted", "touch go\n"],
        ["policies reloaded", "whoami; echo was=$?\n"],
        ["was=0", "exit\n"],
      ],
      "-p",
      "live.yaml",
    );
    saving.kill();
    expect(seen).toContain("left 0");
  });

  it("wants a terminal", () => {
    const { status, stderr } = spawnSync("setsid", ["-w", HERMES, "shell"], { input: "", encoding: "utf8" });
    expect(stderr).toContain("needs a terminal");
    expect(status).toBe(2);
  });

  it("says what it takes", () => expect(hermes(["shell", "--help"]).stdout).toContain("--policy"));
});
