import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { guardOptions, loadConfig, userFile } from "../../../../src/intent/guard/config/load.js";
import { configSchema, keysAt } from "../../../../src/intent/guard/config/schema.js";
import { TIGHTENING_RULES } from "../../../../src/intent/guard/config/tighten.js";
import { Guard } from "../../../../src/intent/guard/guard.js";
import { LAYERS } from "../../../../src/intent/guard/layers.js";
import { addToAllowList } from "../../../../src/people/approval/allow-list.js";
import { root } from "../../../support/root.js";

let folder: string;
let workspace: string;
let home: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-config-"));
  workspace = join(folder, "project");
  home = join(folder, "home");
  mkdirSync(workspace);
  mkdirSync(join(home, ".config/hermes"), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const user = (text: string) => writeFileSync(join(home, ".config/hermes/hermes.yaml"), text);
const project = (text: string) => writeFileSync(join(workspace, "hermes.yaml"), text);
const load = () => loadConfig({ workspace, home });
const guard = async () =>
  new Guard(LAYERS, { ...(await guardOptions({ workspace, home })), workspace, home });

describe("hermes.yaml", () => {
  it("may be missing", () => {
    expect(load().config).toMatchObject({
      profile: "standard",
      approvals: { mode: "on" },
      file_read_max_chars: 100_000,
    });
  });

  it("an empty file has no effect", () => {
    user("# nothing yet\n");
    project("");
    expect(load().config).toEqual(configSchema.parse({}));
  });

  it("the example in the document is valid, and names every key", () => {
    const document = readFileSync(join(root, "docs/reference/configuration.md"), "utf8");
    const example = /```yaml\n([\s\S]*?)```/.exec(document)![1]!;
    user(example);
    expect(load().config.patterns).toHaveLength(1);
    for (const key of keysAt([])) expect(document, key).toMatch(new RegExp(`^${key}:|\`${key}`, "m"));
  });

  describe("config.yaml of ~/.hermes, as agents of this name have it", () => {
    const older = (text: string) => {
      mkdirSync(join(home, ".hermes"), { recursive: true });
      writeFileSync(join(home, ".hermes/config.yaml"), text);
    };
    const TEXT = `permanent_allowlist: ["recursive delete"]
file_read_max_chars: 5000
security:
  tirith_enabled: false
  tirith_path: "/opt/tirith"
  tirith_timeout: 9
  tirith_fail_open: false
`;

    it("is understood, with its own names of keys", () => {
      older(TEXT);
      expect(userFile({ workspace, home })).toBe(join(home, ".hermes/config.yaml"));
      expect(load().config).toMatchObject({
        approvals: { allow: ["recursive delete"] },
        file_read_max_chars: 5000,
        security: {
          tirith_enabled: false,
          tirith_path: "/opt/tirith",
          tirith_timeout: 9,
          tirith_fail_open: false,
        },
      });
    });

    it("keeps answers for always beside its list", async () => {
      older(TEXT);
      await addToAllowList(userFile({ workspace, home }), "package-remove", "asked once");
      expect(load().config.approvals.allow).toEqual(["package-remove", "recursive delete"]);
    });

    it("is refused with its place where it says something that nothing understands, and beside a hermes.yaml", () => {
      older("model: best\n");
      expect(load).toThrow(/config\.yaml:1:1.*model/s);
      older("permanent_allowlist: yes\n");
      expect(load).toThrow(/config\.yaml:1:1.*permanent_allowlist/s);
      older("");
      user("");
      expect(load).toThrow(/only one of them can hold/);
    });
  });

  it("is in the folder that HERMES_HOME or XDG_CONFIG_HOME names", () => {
    expect(userFile({ workspace, home: "/h" })).toBe("/h/.config/hermes/hermes.yaml");
    expect(userFile({ workspace, home: "/h", env: { XDG_CONFIG_HOME: "/x" } })).toBe("/x/hermes/hermes.yaml");
    expect(userFile({ workspace, home: "/h", env: { HERMES_HOME: "/k", XDG_CONFIG_HOME: "/x" } })).toBe(
      "/k/hermes.yaml",
    );
  });

  /** The keys that the seeds name, with their defaults. */
  it.each([
    ["tirith_enabled", true],
    ["tirith_path", "tirith"],
    ["tirith_timeout", 5],
    ["tirith_fail_open", true],
  ] as const)("security.%s is %s by default", (key, value) =>
    expect(load().config.security[key]).toBe(value),
  );

  it.each(["on", "auto", "off"])("approval mode %s", (mode) => {
    user(`approvals: { mode: ${mode} }`);
    expect(load().config.approvals.mode).toBe(mode);
  });

  it("file_read_max_chars", async () => {
    user("file_read_max_chars: 50");
    const judged = (await guard()).check({ kind: "path", input: "a", fields: { access: "read", chars: 51 } });
    expect(judged.action).toBe("deny");
  });

  it("the permanent allow-list is part of it", () => {
    user("approvals: { allow: [recursive delete, rm_recursive] }");
    expect(load().config.approvals.allow).toEqual(["recursive delete", "rm_recursive"]);
  });
});

describe("errors", () => {
  const message = (text: string) => {
    project(text);
    try {
      load();
    } catch (error) {
      return (error as Error).message.replace(`${workspace}/`, "");
    }
    return "no error";
  };

  it.each([
    [
      "an unknown word",
      "profil: strict",
      "configuration hermes.yaml:1:1: unknown key `profil`: did you mean `profile`?",
    ],
    [
      "deep inside",
      "security:\n  tirith_enable: true",
      "configuration hermes.yaml:2:3: unknown key `tirith_enable`: did you mean `tirith_enabled`?",
    ],
    [
      "an unknown value",
      "profile: lax",
      'configuration hermes.yaml:1:10: `profile` takes standard or strict, not "lax"',
    ],
    [
      "a value of the wrong type",
      "memory:\n  distrust: web",
      'configuration hermes.yaml:2:13: `distrust` takes a list, not "web"',
    ],
    [
      "a number out of range",
      "file_read_max_chars: 0",
      "configuration hermes.yaml:1:22: `file_read_max_chars` must be more than 0, not the number 0",
    ],
    [
      "in a list",
      "patterns:\n  - id: a\n    match: x\n    reason: y\n    acton: deny",
      "configuration hermes.yaml:5:5: unknown key `acton`: did you mean `action`?",
    ],
    [
      "broken YAML",
      "profile: [",
      "configuration hermes.yaml:1:11: flow sequence in block collection must be sufficiently indented and end with a ]",
    ],
  ])("name the line and the column: %s", (_, text, expected) => expect(message(text)).toBe(expected));

  it("the schema for editors is generated from the schema that loading uses", () => {
    execFileSync("node", ["scripts/schema.mjs", "--check"], { cwd: root, stdio: "pipe" });
  });

  it("name all errors, not only the first", () => {
    const text = message("profil: strict\nsecurity: { tirith_timeout: soon }\n");
    expect(text).toMatch(/did you mean `profile`/);
    expect(text).toMatch(/hermes\.yaml:2:29: `tirith_timeout` takes a number/);
  });

  it("a pattern that is not valid in RE2", async () => {
    user("patterns: [{ id: a, match: '(?<=x)y', reason: r }]");
    await expect(guard()).rejects.toThrow(/RE2/);
  });

  it("a file that is not UTF-8", () => {
    writeFileSync(join(workspace, "hermes.yaml"), Buffer.from([0xff, 0xfe, 0x41]));
    expect(load).toThrow(/not UTF-8/);
  });
});

describe("a project's file may only tighten", () => {
  it("every key of the file has a rule for tightening", () => {
    const leaves = (place: string[]): string[] => {
      const keys = keysAt(place);
      return keys.length === 0 || place.join(".") in TIGHTENING_RULES
        ? [place.join(".")]
        : keys.flatMap((key) => leaves([...place, key]));
    };
    expect(leaves([]).filter((key) => !(key in TIGHTENING_RULES))).toEqual([]);
    expect(Object.keys(TIGHTENING_RULES).filter((key) => !leaves([]).includes(key))).toEqual([]);
  });

  it.each([
    ["profile", "profile: strict", "profile: standard"],
    ["approvals.mode", "approvals: { mode: on }", "approvals: { mode: auto }"],
    ["approvals.mode", "", "approvals: { mode: off }"],
    ["approvals.delay", "approvals: { delay: 60 }", "approvals: { delay: 5 }"],
    ["approvals.timeout", "", "approvals: { timeout: 301 }"],
    ["approvals.allow", "", "approvals: { allow: [recursive delete] }"],
    [
      "approvals.rules",
      "approvals: { rules: [{ deny: publish }] }",
      "approvals: { rules: [{ allow: '*' }] }",
    ],
    ["approvals.auto", "", "approvals: { auto: [network] }"],
    ["allow", "", "allow: [{ read: /srv/x }]"],
    ["approvals.webhook", "", "approvals: { webhook: { url: 'https://x.example', secret_file: x } }"],
    ["actions", "", "actions: { publish: allow }"],
    ["file_read_max_chars", "", "file_read_max_chars: 100001"],
    ["credentials.pass", "", "credentials: { pass: [GITHUB_TOKEN] }"],
    ["urls.allow", "", "urls: { allow: [localhost] }"],
    ["security.tirith_enabled", "", "security: { tirith_enabled: false }"],
    ["security.tirith_path", "", "security: { tirith_path: ./tirith }"],
    [
      "security.tirith_fail_open",
      "security: { tirith_fail_open: false }",
      "security: { tirith_fail_open: true }",
    ],
    ["memory.mode", "", "memory: { mode: warn }"],
  ])("%s cannot be loosened", (key, mine, theirs) => {
    user(mine);
    project(theirs);
    expect(load).toThrow(
      new RegExp(
        `hermes\\.yaml:1:\\d+: a project's file may only tighten: .*${key.replace(".", "\\.") === "actions" ? "publish" : key.replace(".", "\\.")}`,
      ),
    );
  });

  it("a tightened value applies", () => {
    user("credentials: { pass: [A_TOKEN, B_TOKEN] }\nfiles: { deny: [a/**] }\nmemory: { mode: warn }");
    project(
      "profile: strict\ncredentials: { pass: [A_TOKEN] }\nfiles: { deny: [b/**] }\nmemory: { mode: block }\nfile_read_max_chars: 10",
    );
    expect(load().config).toMatchObject({
      profile: "strict",
      credentials: { pass: ["A_TOKEN"] },
      files: { deny: ["a/**", "b/**"] },
      memory: { mode: "block" },
      file_read_max_chars: 10,
    });
  });

  it("a project may add answers in advance that refuse or ask", () => {
    user("approvals: { rules: [{ allow: '*' }], auto: [listen, network], timeout: 100 }");
    project("approvals: { rules: [{ deny: 'git-*' }, { ask: listen }], auto: [listen], timeout: 10 }");
    expect(load().config.approvals).toMatchObject({
      rules: [{ allow: "*" }, { deny: "git-*" }, { ask: "listen" }],
      auto: ["listen"],
      timeout: 10,
    });
  });

  it("actions of a project are a minimum, never less than what a rule says", async () => {
    user("actions: { device: ask }");
    project("actions: { device: ask, env-file: ask, agent-instructions: deny }");
    const action = async (input: string, access: string) =>
      (await guard()).check({ kind: "path", input, fields: { access } }).action;
    expect(await action("/dev/zero", "read")).toBe("ask");
    expect(await action(".env", "read")).toBe("deny");
    expect(await action("AGENTS.md", "write")).toBe("deny");
  });
});

describe("names of rules", () => {
  it.each([
    ["actions: { publsh: deny }", /1:12: there is no rule `publsh` of the guard: did you mean `publish`\?/],
    ["approvals: { rules: [{ allow: remot-change }] }", /`remot-change`: did you mean `remote-change`\?/],
    ["approvals: { rules: [{ allow: 'gitt-*' }] }", /no rule of the guard is called `gitt-\*`/],
    [
      "approvals: { allow: [recursive delet] }",
      /no rule .* key `recursive delet`: did you mean `recursive delete`\?/,
    ],
    ["approvals: { auto: [netwrok] }", /there is no rule `netwrok`/],
    [
      "actions: { env-file: allow }",
      /about files, which the kernel's rules hold as well: list .* under `allow:`/,
    ],
    ["actions: { loopback: allow }", /about addresses, .* - \{ connect: localhost:3000 \}/],
  ])("%s is an error that says what to write", (text, error) => {
    user(text);
    expect(load).toThrow(error);
  });

  it.each([
    "actions: { publish: allow, env-file: ask, mine: deny }\npatterns: [{ id: mine, match: x, reason: y }]",
    "approvals: { allow: [recursive delete, rm_recursive, 'exact:abc', agent/push], rules: [{ ask: 'git-*' }, { deny: agent/publish }] }",
    "approvals: { auto: [listen, network, tirith-homograph] }",
  ])("%s is fine", (text) => {
    user(text);
    expect(load).not.toThrow();
  });
});

describe("the guard uses", () => {
  it("the user's own patterns, in linear time", async () => {
    user(
      "patterns:\n  - { id: no-prod, match: 'prod-\\d+', action: deny, reason: Not production. }\n  - { id: slow, kind: [text], match: '(a+)+$', action: ask, reason: Slow. }",
    );
    const own = await guard();
    expect(own.check({ kind: "command", input: "ssh prod-12" }).findings).toContainEqual({
      layer: "patterns",
      rule: "no-prod",
      action: "deny",
      reason: "Not production.",
      span: { start: 4, end: 11 },
    });
    expect(own.check({ kind: "text", input: `${"a".repeat(50_000)}b` }).action).toBe("allow");
  });

  it("the user's own paths", async () => {
    user("files: { deny: ['~/private/**', 'data/*.csv'], ask: ['**/migrations/**'] }");
    const own = await guard();
    const action = (input: string) => own.check({ kind: "path", input, fields: { access: "read" } }).action;
    expect(action("~/private/a/b")).toBe("deny");
    expect(action("data/x.csv")).toBe("deny");
    expect(action("data/sub/x.csv")).toBe("allow");
    expect(action("app/migrations/1.sql")).toBe("ask");
  });

  it("passed and withheld variables", async () => {
    user("credentials: { pass: [GITHUB_TOKEN], strip: [INTERNAL_*] }");
    const own = await guard();
    expect(own.check({ kind: "env", input: "GITHUB_TOKEN=x" }).action).toBe("allow");
    expect(own.check({ kind: "env", input: "INTERNAL_HOST=x" }).action).toBe("deny");
  });
});
