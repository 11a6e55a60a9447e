import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hermes } from "../support/cli.js";

let folder: string;
let workspace: string;
let env: NodeJS.ProcessEnv;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-allow-")));
  workspace = join(folder, "w");
  mkdirSync(workspace);
  writeFileSync(join(workspace, ".env"), "SECRET=1\n");
  env = { ...process.env, HERMES_HOME: join(folder, "home"), HERMES_STORE: "", HERMES_WORKSPACE: "" };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (...args: string[]) => hermes(args, { cwd: workspace, env });
/** The command that a refusal names, as a person types it. */
const typed = (text: string) => /to allow(?: it)?: hermes (allow [^\n)]*)/.exec(text)![1]!.split(" ");

describe("hermes allow", () => {
  it("ends a refusal of both planes by the line that the refusal names, until it is revoked", () => {
    const judged = at("exec", "--ask", "no", "cat .env");
    expect(judged.status).toBe(126);
    const run = at("run", "-p", "agent", "--ask", "no", "--", "cat", ".env");
    expect(run.stderr).toContain("No such file");
    expect(typed(run.stderr)).toEqual(["allow", "read", `${workspace}/.env`]);
    expect(typed(judged.stderr)).toEqual(typed(run.stderr));

    const allowed = at(...typed(run.stderr));
    expect(allowed.stdout).toContain(
      `read ${workspace}/.env; in every workspace; for agents (guard, agent, tools)`,
    );
    expect(at("exec", "--ask", "no", "cat .env").stdout).toBe("SECRET=1\n");
    expect(at("run", "-q", "-p", "agent", "--ask", "no", "--", "cat", ".env").stdout).toBe("SECRET=1\n");
    // No further than it says: not to change it, not under other policies.
    expect(at("exec", "--ask", "no", "echo x >> .env").status).not.toBe(0);
    expect(at("run", "-q", "-p", "untrusted", "--", "cat", ".env").status).toBe(1);
    expect(readFileSync(join(workspace, ".env"), "utf8")).toBe("SECRET=1\n");

    expect(at("allow", "revoke", "1").stdout).toContain("revoked: read");
    expect(at("exec", "--ask", "no", "cat .env").status).toBe(126);
    expect(at("run", "-q", "-p", "agent", "--ask", "no", "--", "cat", ".env").status).toBe(1);
  });

  it("takes the id that the log shows, for a command that was not started", () => {
    const refused = at("run", "-p", "agent", "--ask", "no", "--", "git", "push", "x");
    expect(refused.status).toBe(126);
    expect(refused.stderr).toMatch(/git: refused by agent\/push: .*This publishes commits/);
    const [line] = at("log", "--denied", "--json").stdout.trim().split("\n");
    const entry = JSON.parse(line!);
    expect(entry).toMatchObject({ source: "run", denied: true, by: "agent/push", what: "run git push x" });
    expect(entry.entry).toEqual({ run: ["git", "push", "x"], in: workspace });

    const list = at("allow", entry.id);
    expect(list.stdout).toContain(`allowed: run git push x; in the workspace ${workspace}`);
    expect(at("run", "-q", "-p", "agent", "--ask", "no", "--", "git", "push", "x").stderr).not.toContain(
      "refused",
    );
    expect(at("run", "-q", "-p", "agent", "--ask", "no", "--", "git", "push", "y").status).toBe(126);
  });

  it("lets a file outside the workspace be made, through the kernel's rules too", () => {
    const outside = (command: string) =>
      hermes(["exec", "--ask", "no", command], {
        cwd: workspace,
        env: { ...env, HOME: folder, TMPDIR: workspace },
      });
    const write = 'python3 -c \'open("/var/hermes-allow-test", "w")\'';
    expect(outside(write).status).not.toBe(0);
    at("allow", "write", "/var/hermes-allow-test");
    try {
      expect(outside(write).stderr).toBe("");
    } finally {
      rmSync("/var/hermes-allow-test", { force: true });
    }
  });

  it("takes no file along that runs code later: only an entry that names it does", () => {
    const shared = mkdtempSync("/var/hermes-allow-");
    const into = (file: string) =>
      at("exec", "--ask", "no", `python3 -c 'open("${shared}/${file}", "w")'`).status;
    try {
      mkdirSync(join(shared, ".vscode"));
      at("allow", "write", shared);
      expect(into("notes.txt")).toBe(0);
      expect(into(".vscode/tasks.json")).not.toBe(0);
      at("allow", "write", join(shared, ".vscode/tasks.json"));
      expect(into(".vscode/tasks.json")).toBe(0);
    } finally {
      rmSync(shared, { recursive: true, force: true });
    }
  });

  it("offers nothing for what no entry lifts: a policy that is a program, and HERMES itself", () => {
    writeFileSync(
      join(workspace, "p.lua"),
      `hermes.on("openat", function(e) if e.path:match("%.env$") then return hermes.deny("no") end end)\n`,
    );
    const run = at("run", "-p", "p.lua", "--", "cat", ".env");
    expect(run.stderr).toContain("1 denied");
    expect(run.stderr).not.toContain("to allow");
    const { id } = JSON.parse(at("log", "--denied", "--json").stdout.trim().split("\n").at(-1)!);
    const told = at("allow", id);
    expect(told.status).toBe(1);
    expect(told.stderr).toMatch(/no entry of `allow:` lifts p: change the policy/);
  });

  it.each([
    [["read", "/"], /whole disk or home/],
    [["read", "~/**"], /whole disk or home/],
    [["run", "*"], /begins with the name of a program/],
    [["raed", "x"], /did you mean read\?/],
    [["revoke", "7"], /there is no entry 7/],
  ])("%j is an error", (words, error) => {
    const { status, stderr } = at("allow", ...words);
    expect(status).not.toBe(0);
    expect(stderr).toMatch(error);
  });
});

describe("hermes log", () => {
  it("shows what agents and runs were refused, in order, with what to type", () => {
    at("exec", "--ask", "no", "cat .env");
    at("run", "-q", "-p", "agent", "--ask", "no", "--", "cat", ".env");
    at("exec", "true");
    const all = at("log", "--json")
      .stdout.trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(all.map(({ source, denied }) => [source, denied])).toEqual([
      ["agent", true],
      ["run", true],
      ["agent", false],
    ]);
    const text = at("log", "--denied", "--since", "yesterday").stdout;
    expect(text).toContain("terminal_exec: cat .env  command/secret-read");
    expect(text).toContain("agent/env-files");
    expect(text.match(/to allow: hermes allow read /g)).toHaveLength(2);
    expect(at("log", "--until", "2020-01-01").stdout).toBe("Nothing is recorded.\n");
  });

  it("keeps no secret of a command line", () => {
    at(
      "run",
      "-q",
      "-p",
      "agent",
      "--ask",
      "no",
      "--",
      "git",
      "push",
      `https://x:ghp_${"a1B2".repeat(9)}@h/r`,
    );
    expect(readFileSync(join(folder, "home", "hermes.db.runs"), "utf8")).toContain("[redacted");
  });
});
