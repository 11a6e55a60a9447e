import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HERMES } from "../../support/cli.js";
import { Place } from "./place.js";

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

const install = (...args: string[]) => place.run(HERMES, ["install", ...args]);
const read = (file: string) => readFileSync(file, "utf8");

const FILES = {
  "claude-code": { project: "project/.claude/settings.local.json", user: "home/.claude/settings.json" },
  codex: { project: "project/.codex/hooks.json", user: "home/.codex/hooks.json" },
  gemini: { project: "project/.gemini/settings.json", user: "home/.gemini/settings.json" },
} as const;

describe.each(["claude-code", "codex", "gemini"] as const)("hermes install %s", (agent) => {
  const event = agent === "gemini" ? "BeforeTool" : "PreToolUse";
  const mine = `{\n    "other": [1,   2],\n    "hooks": {\n        "${event}": [\n            { "matcher": "x", "hooks": [{ "type": "command", "command": "mine" }] }\n        ]\n    }\n}\n`;

  it("writes a hook that works, the same however often it is told, and takes it out again", () => {
    const file = join(place.folder, FILES[agent].project);
    expect(install(agent).status).toBe(0);
    const written = read(file);
    expect(install(agent).stdout).toContain("no change needed");
    expect(read(file)).toBe(written);
    const { hooks } = JSON.parse(written);
    const { command } = hooks[event][0].hooks[0];
    const tool = agent === "gemini" ? "run_shell_command" : "Bash";
    const input = place.input(agent, tool, { command: "rm -rf /" });
    const { stdout, status } = place.run("sh", ["-c", command], { input });
    expect(status).toBe(0);
    expect(stdout).toContain("deny");
    expect(place.run("sh", ["-c", command.replace("/hermes'", "/gone'")], { input }).status).toBe(2);
    expect(install(agent, "--undo").status).toBe(0);
    expect(existsSync(dirname(file))).toBe(false);
  });

  it("keeps what is there, letter by letter, with a backup beside it", () => {
    const file = place.write(FILES[agent].user, mine);
    install(agent, "--user");
    expect(read(`${file}.before-hermes`)).toBe(mine);
    const { hooks } = JSON.parse(read(file));
    expect(hooks[event]).toHaveLength(2);
    expect(hooks[event][0].hooks[0].command).toBe("mine");
    expect(read(file)).toContain('\n    "other": [1,   2],\n');
    install(agent, "--user", "--undo");
    expect(read(file)).toBe(mine);
    expect(existsSync(`${file}.before-hermes`)).toBe(false);
  });

  it("gives back what there was byte for byte, however little that was", () => {
    for (const text of [
      "",
      "\n",
      "{}",
      '{ "hooks": {} }',
      `{"hooks":{"${event}":[]}}`,
      '{\r\n\t"a": []}\r\n',
    ]) {
      const file = place.write(FILES[agent].user, text);
      expect(install(agent, "--user").status).toBe(0);
      expect(read(file)).toContain(`hook ${agent}`);
      install(agent, "--user", "--undo");
      expect([text, read(file)]).toEqual([text, text]);
      expect(existsSync(`${file}.before-hermes`)).toBe(false);
    }
  });

  it("leaves what was changed since where it is when it is taken out", () => {
    const file = place.write(FILES[agent].user, mine);
    install(agent, "--user");
    writeFileSync(file, read(file).replace('"mine"', '"mine, changed"'));
    install(agent, "--user", "--undo");
    const { hooks, other } = JSON.parse(read(file));
    expect(other).toEqual([1, 2]);
    expect(hooks).toEqual({
      [event]: [{ matcher: "x", hooks: [{ type: "command", command: "mine, changed" }] }],
    });
  });

  it("refuses a file that is broken or of another shape, and does not touch it", () => {
    for (const text of [
      "{ oh",
      "[]",
      '{ "hooks": [] }',
      `{ "hooks": { "${event}": {} } }`,
      `{ "hooks": { "${event}": [1] } }`,
    ]) {
      const file = place.write(FILES[agent].project, text);
      const { status, stderr } = install(agent);
      expect([text, status]).toEqual([text, 1]);
      expect(stderr).toContain(file);
      expect(read(file)).toBe(text);
      expect(existsSync(`${file}.before-hermes`)).toBe(false);
    }
  });

  it("only shows with --dry-run, and says as JSON what it did", () => {
    const { stdout } = install(agent, "--dry-run");
    expect(stdout).toContain(`hook ${agent} || {`);
    expect(existsSync(join(place.folder, FILES[agent].project))).toBe(false);
    const done = JSON.parse(install(agent, "--json").stdout);
    expect(done).toMatchObject({ agent, scope: "project", undo: false, changed: true });
  });
});

describe("hermes install", () => {
  it("goes through a link to where the settings are kept, and keeps their mode", () => {
    const kept = place.write("dotfiles/claude.json", "{}");
    mkdirSync(join(place.home, ".claude"));
    symlinkSync(kept, join(place.home, ".claude/settings.json"));
    const { mode } = statSync(kept);
    install("claude-code", "--user");
    expect(lstatSync(join(place.home, ".claude/settings.json")).isSymbolicLink()).toBe(true);
    expect(read(kept)).toContain("hook claude-code");
    expect(statSync(kept).mode).toBe(mode);
  });

  it("keeps comments where the agent reads them, and refuses them where it does not", () => {
    const text = '{\n  // mine\n  "theme": "dark", /* too */\n}\n';
    const file = place.write(FILES.gemini.user, text);
    install("gemini", "--user");
    expect(read(file)).toContain("// mine");
    expect(read(file)).toContain("/* too */");
    install("gemini", "--user", "--undo");
    expect(read(file)).toBe(text);
    place.write(FILES["claude-code"].user, text);
    expect(install("claude-code", "--user").status).toBe(1);
  });

  it("says so when hooks are switched off", () => {
    place.write(FILES["claude-code"].user, '{ "disableAllHooks": true }');
    expect(install("claude-code", "--user").stdout).toContain("disableAllHooks turns hooks off");
    place.write("home/.codex/config.toml", "[features]\nhooks = false\n");
    expect(install("codex", "--user").stdout).toContain("hooks = false turns hooks off");
  });

  it("is followed by hermes doctor --agents, which tells whether the hook answers and why not", () => {
    const doctor = () => {
      const { status, stdout } = place.run(HERMES, ["doctor", "--agents", "--json"]);
      const found = JSON.parse(stdout).agents.find(
        (one: { agent: string; scope: string }) => one.agent === "claude-code" && one.scope === "project",
      );
      return { status, installed: found.installed, problem: found.problem };
    };
    expect(doctor()).toEqual({ status: 0, installed: false, problem: undefined });
    install("claude-code");
    expect(doctor()).toEqual({ status: 0, installed: true, problem: undefined });
    const file = join(place.folder, FILES["claude-code"].project);
    const text = read(file);
    writeFileSync(file, text.replaceAll("/hermes' hook", "/gone/hermes' hook"));
    expect(doctor()).toMatchObject({
      status: 1,
      problem: expect.stringContaining("every tool call is refused"),
    });
    writeFileSync(file, text.replace("{", '{ "disableAllHooks": true,'));
    expect(doctor()).toMatchObject({ status: 1, problem: expect.stringContaining("disableAllHooks") });
  });

  it("lets Claude Code's own permissions decide: it allows the parts of a command that are ours, and no other", () => {
    const own = { permissions: { allow: ["Bash(npm test:*)"], deny: ["Bash(touch:*)"] } };
    const file = place.write(FILES["claude-code"].user, JSON.stringify(own));
    install("claude-code", "--user");
    const { allow, deny } = JSON.parse(read(file)).permissions;
    expect(deny).toEqual(own.permissions.deny);
    expect(allow).toEqual(["Bash(npm test:*)", expect.stringMatching(/^Bash\(\S+ exec:\*\)$/), "Bash(exit)"]);
    writeFileSync(file, read(file).replace("npm test", "npm run"));
    install("claude-code", "--user", "--undo");
    expect(JSON.parse(read(file))).toEqual({
      permissions: { ...own.permissions, allow: ["Bash(npm run:*)"] },
    });
  });

  it("refuses an agent that it does not know", () => {
    expect(install("cursor")).toMatchObject({ status: 2 });
    expect(install("codex", "--user", "--project").status).toBe(2);
  });
});

describe("agents that are found", () => {
  const onPath = (...names: string[]) => {
    for (const name of names) {
      const file = place.write(`bin/${name}`, "#!/bin/sh\nexit 1\n");
      chmodSync(file, 0o755);
    }
    return { env: { PATH: `${join(place.folder, "bin")}:${process.env.PATH}` } };
  };

  it("are listed with how to run them whole, and where their hook is", () => {
    const { env } = onPath("claude", "opencode");
    const told = () => JSON.parse(place.run(HERMES, ["agents", "--json"], { env }).stdout).agents;
    const claude = { name: "claude-code", file: join(place.folder, "bin/claude"), hook: [] };
    expect(told()).toMatchObject([
      { ...claude, whole: "hermes run -p claude-code --fence strict -- claude" },
      { name: "codex" },
      { name: "gemini" },
      { name: "opencode", file: join(place.folder, "bin/opencode") },
    ]);
    expect(told()[1]).not.toHaveProperty("file");
    expect(told()[3]).not.toHaveProperty("hook");
    install("claude-code", "--user");
    expect(told()[0].hook).toEqual(["user"]);
    const text = place.run(HERMES, ["agents"], { env }).stdout;
    expect(text).toMatch(/✓ Claude Code[^✓]*installed \(user\)/);
    expect(text).toMatch(/✓ OpenCode[^✓]*none: run it whole/);
  });

  it("have the hook added by --all, and only they", () => {
    const { env } = onPath("claude", "opencode");
    const { status, stdout } = place.run(HERMES, ["install", "--all"], { env });
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^claude-code: the hook was added/)]);
    expect(existsSync(join(place.project, ".gemini"))).toBe(false);
    expect(place.run(HERMES, ["install", "--all", "--undo"], { env }).status).toBe(0);
    expect(existsSync(join(place.project, ".claude"))).toBe(false);
  });

  it("must be there, or be named", () => {
    for (const words of [["--all"], [], ["codex", "--all"]])
      expect(install(...words).status, words.join(" ")).toBe(2);
  });
});
