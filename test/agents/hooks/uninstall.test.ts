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
import { afterEach, beforeEach, expect, it } from "vitest";
import { hermes } from "../../support/cli.js";

let folder: string;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-uninstall-")));
  mkdirSync(join(folder, "project"));
  env = { ...process.env, HOME: folder, HERMES_HOME: join(folder, "hermes"), CODEX_HOME: "" };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (...args: string[]) => hermes(args, { cwd: join(folder, "project"), env });

it("hermes uninstall takes the hook out of all agents, and keeps the records unless told otherwise", () => {
  const own = join(folder, ".claude/settings.json");
  mkdirSync(join(folder, ".claude"));
  writeFileSync(own, '{ "model": "x" }\n');
  at("install", "claude-code");
  at("install", "claude-code", "--user");
  at("install", "gemini");
  at("exec", "true");
  expect(readFileSync(own, "utf8")).toContain("hermes");

  expect(JSON.parse(at("uninstall", "--dry-run", "--json").stdout).hooks).toHaveLength(3);
  expect(readFileSync(own, "utf8")).toContain("hermes");
  const { stdout } = at("uninstall");
  expect(stdout.match(/the hook was removed from/g)).toHaveLength(3);
  expect(stdout).toContain(`kept: ${folder}/hermes`);
  expect(readFileSync(own, "utf8")).toBe('{ "model": "x" }\n');
  expect(existsSync(join(folder, "hermes/hermes.db"))).toBe(true);

  expect(at("uninstall", "--purge").stdout).toContain("No agent has the hook");
  expect(existsSync(join(folder, "hermes"))).toBe(false);
});
