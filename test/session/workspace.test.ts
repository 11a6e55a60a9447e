import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HERMES, hermes } from "../support/cli.js";

/** A home is opened to a program only by a user who names it. */

let home: string;
let project: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "hermes-home-")));
  project = join(home, "project");
  for (const folder of ["project", ".config/autostart", ".config/editor", ".ssh"])
    mkdirSync(join(home, folder), { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const env = (more: NodeJS.ProcessEnv = {}) => ({
  PATH: process.env.PATH,
  HERMES_NO_RESIDENT: "1",
  HOME: home,
  HERMES_HOME: join(home, "state"),
  ...more,
});
const run = (cwd: string, args: readonly string[], more?: NodeJS.ProcessEnv) =>
  hermes(args, { cwd, env: env(more) });

const ATTACK = ["--", "sh", "-c", "echo bad > .config/autostart/bad.desktop; echo ran"];
const OPENING = [
  ["-p", "untrusted"],
  ["-p", "workspace"],
  ["-p", "agent"],
  ["-p", "tools"],
  ["--fence", "strict"],
] as const;

describe.each(OPENING)("in the home, hermes run %s %s", (...options) => {
  it("runs nothing, and says what to do", () => {
    const { status, stdout, stderr } = run(home, ["run", ...options, ...ATTACK]);
    expect(status).toBe(125);
    expect(stdout).toBe("");
    expect(stderr).toContain(`the workspace would be ${home}, your home folder`);
    expect(stderr).toContain("--workspace FOLDER or HERMES_WORKSPACE");
    expect(existsSync(join(home, ".config/autostart/bad.desktop"))).toBe(false);
  });

  it.each(["--workspace", "HERMES_WORKSPACE"])("runs in another folder that %s names", (how) => {
    const named = how === "--workspace" ? ["--workspace", project] : [];
    const { status, stderr } = run(
      home,
      ["run", "-q", ...options, ...named, "--", "sh", "-c", "echo x > project/x; echo bad > .config/bad"],
      how === "HERMES_WORKSPACE" ? { HERMES_WORKSPACE: project } : {},
    );
    expect(status, stderr).not.toBe(125);
    expect(readFileSync(join(project, "x"), "utf8")).toBe("x\n");
    // Policies that permit temporary folders permit this home, which is one.
    if (["untrusted", "strict"].includes(options[1]))
      expect(existsSync(join(home, ".config/bad"))).toBe(false);
  });
});

describe("the home as the workspace", () => {
  it("is open to the program when the user names it", () => {
    const { stderr } = run(home, ["run", "-q", "-p", "workspace", "--workspace", ".", ...ATTACK]);
    expect(stderr).toBe("");
    expect(existsSync(join(home, ".config/autostart/bad.desktop"))).toBe(true);
  });

  it("is of no interest to a run that opens nothing", () => {
    expect(run(home, ["run", "-q", "--", "true"]).status).toBe(0);
    expect(run(home, ["run", "-q", "-p", "secrets", "--", "true"]).status).toBe(0);
    expect(run(home, ["run", "-q", "--fence", "strict", "--writable", project, "--", "true"]).status).toBe(0);
  });

  it("is refused to the tools and to hooks too", () => {
    const exec = run(home, ["exec", "echo ran"]);
    expect(exec.status, exec.stderr).toBe(125);
    expect(exec.stderr).toContain("your home folder, and the tools would open it");
    expect(run(home, ["exec", "--workspace", ".", "echo ran"]).stdout).toBe("ran\n");
    const call = (more?: NodeJS.ProcessEnv) =>
      hermes(["hook", "claude-code"], {
        cwd: home,
        env: env(more),
        input: JSON.stringify({
          session_id: "1",
          cwd: home,
          permission_mode: "default",
          hook_event_name: "PreToolUse",
          tool_name: "Bash",
          tool_input: { command: "echo ran" },
          tool_use_id: "1",
        }),
      });
    const refused = JSON.parse(call().stdout).hookSpecificOutput;
    expect(refused.permissionDecision).toBe("deny");
    expect(refused.permissionDecisionReason).toContain("your home folder");
    expect(JSON.parse(call({ HERMES_WORKSPACE: home }).stdout).hookSpecificOutput.updatedInput).toBeDefined();
  });

  it("is refused to a policy that begins to open it while the program runs", async () => {
    const file = join(home, "p.yaml");
    const over = join(home, "over");
    writeFileSync(file, "name: p\nrules:\n  - { id: a, deny: write, path: /srv/none }\n");
    const child = spawn(
      HERMES,
      ["run", "-p", file, "--", "sh", "-c", "echo ready; until test -e over; do sleep 0.05; done"],
      { cwd: home, env: env() },
    );
    const ended = once(child, "close");
    let said = "";
    child.stderr.on("data", (bytes) => {
      said += bytes;
    });
    await once(child.stdout, "data");
    writeFileSync(file, "name: p\nrules:\n  - { id: a, deny: write, path: '$" + "{workspace}/x' }\n");
    await expect.poll(() => said).toContain("policy p would open it");
    writeFileSync(over, "");
    expect(await ended).toEqual([0, null]);
  });
});

describe("a workspace that nobody named", () => {
  const refusal = (cwd: string, more?: NodeJS.ProcessEnv) =>
    run(cwd, ["run", "-p", "untrusted", "--", "true"], more).stderr;

  it("may not be above the home, nor the whole file system", () => {
    expect(refusal(tmpdir())).toContain(`a folder above your home, ${home}`);
    expect(refusal("/")).toContain("the whole file system");
    expect(refusal("/", { HOME: "/" })).toContain("your home folder");
  });

  it("may not hold secrets or what starts at login, nor lie among them", () => {
    expect(refusal(join(home, ".ssh"))).toContain("where SSH keys are");
    expect(refusal(join(home, ".config"))).toContain("programs that start at login");
    const copy = join(project, "backup");
    mkdirSync(join(copy, ".gnupg"), { recursive: true });
    expect(refusal(copy)).toContain("a folder with secrets of its own (.gnupg)");
  });

  it("may be a project, in the home or elsewhere", () => {
    expect(refusal(project)).not.toContain("workspace would be");
    expect(refusal(join(home, ".config/editor"))).not.toContain("workspace would be");
    expect(refusal("/usr", { HOME: "/nonexistent" })).not.toContain("workspace would be");
  });

  it("is where the program starts, not where hermes is called", () => {
    expect(run(home, ["run", "-q", "-C", project, "-p", "untrusted", "--", "true"]).status).toBe(0);
    expect(run(project, ["run", "-C", home, "-p", "untrusted", "--", "true"]).stderr).toContain("your home");
  });
});

describe("a workspace that does not exist", () => {
  it("is wrong usage", () => {
    const { status, stderr } = run(project, ["run", "--workspace", "none", "--", "true"]);
    expect([status, stderr]).toEqual([2, "hermes: --workspace: none is not a folder\n"]);
    expect(run(project, ["run", "--", "true"], { HERMES_WORKSPACE: "/none" }).status).toBe(2);
  });
});

describe("the configuration of a project", () => {
  it("is kept from a program in the named workspace and where it starts", () => {
    const script = "echo x > hermes.yaml; echo x > project/hermes.yaml; ls hermes.yaml project/hermes.yaml";
    const { stdout } = run(home, ["run", "-q", "-p", "workspace", "-w", "project", "--", "sh", "-c", script]);
    expect(stdout).toBe("");
  });
});
