// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies have variables of their own
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { loadPolicy } from "../../../src/policy/load.js";
import { loadYaml } from "../../../src/policy/yaml/load.js";
import { reached } from "../../support/parts.js";
import { root } from "../../support/root.js";
import { connect, errorOf, exec, load, NOWHERE, open, ruleOf } from "./policies.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-yaml-files-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function files(contents: Record<string, string>): (name: string) => ReturnType<typeof loadYaml> {
  const at = mkdtempSync(join(folder, "f-"));
  for (const [name, text] of Object.entries(contents)) {
    mkdirSync(join(at, name, ".."), { recursive: true });
    writeFileSync(join(at, name), text);
  }
  return (name) => loadYaml(join(at, name), NOWHERE);
}

describe("include and extends", () => {
  test("rules of an included file come first, those of an extended file last", async () => {
    const load = files({
      "a.yaml":
        "name: a\ninclude: [sub/b.yaml]\nextends: ./c.yaml\nrules: [{ id: mine, allow: read, path: /x/** }]",
      "sub/b.yaml": "name: b\nrules: [{ id: first, deny: read, path: /x/secret }]",
      "c.yaml":
        "name: c\ndefault: deny\nrules: [{ id: last, kill: read, path: /x/** }, { id: more, deny: read, path: /y }]",
    });
    const policy = await load("a.yaml");
    expect(policy.name).toBe("a");
    expect(policy.rules.map(({ id }) => id)).toEqual(["first", "mine", "last", "more"]);
    expect(ruleOf(policy, open("/x/secret"))).toBe("first");
    expect(ruleOf(policy, open("/x/y"))).toBe("mine");
    expect(ruleOf(policy, open("/y"))).toBe("more");
    expect(ruleOf(policy, open("/z"))).toBe("default");
  });

  test("the default and the variables of the extended file can be set", async () => {
    const load = files({
      "a.yaml": "name: a\ndefault: allow\nextends: ./b.yaml\nvariables: { where: /mine }",
      "b.yaml":
        'name: b\ndefault: deny\nvariables: { where: /theirs }\nrules: [{ id: r, deny: read, path: "${where}/**" }]',
    });
    const policy = await load("a.yaml");
    expect(policy.default).toBe("allow");
    expect(ruleOf(policy, open("/mine/x"))).toBe("r");
    expect(ruleOf(policy, open("/theirs/x"))).toBeUndefined();
  });

  test("./ in an included file is that file's folder", async () => {
    const load = files({
      "a.yaml": "name: a\ninclude: sub/b.yaml",
      "sub/b.yaml": "name: b\nrules: [{ id: r, deny: read, path: ./here }]",
    });
    const policy = await load("a.yaml");
    expect(ruleOf(policy, open(join(policy.file, "../sub/here")))).toBe("r");
  });

  test("requirements add up", async () => {
    const load = files({
      "a.yaml": "name: a\nrequires: [notify]\ninclude: b.yaml",
      "b.yaml": "name: b\nrequires: [notify, fence]\nrules: [{ id: r, deny: read }]",
    });
    expect((await load("a.yaml")).requires).toEqual(["notify", "fence"]);
  });

  test("the version covers every file", async () => {
    const version = async (text: string) =>
      (
        await files({
          "a.yaml": "name: a\ninclude: b.yaml",
          "b.yaml": `name: b\nrules: [{ id: r, deny: ${text} }]`,
        })("a.yaml")
      ).version;
    expect(await version("read")).toBe(await version("read"));
    expect(await version("read")).not.toBe(await version("write"));
  });

  test("a policy that comes with HERMES goes by its name", async () => {
    const policy = await load("name: mine\nextends: readonly");
    expect(ruleOf(policy, open("/x", "O_WRONLY"))).toBe("unchanged");
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ["itself", { "a.yaml": "name: a\ninclude: ./a.yaml" }, /a\.yaml:2:10: .*includes itself/],
    [
      "itself in a circle",
      { "a.yaml": "name: a\ninclude: b.yaml", "b.yaml": "name: b\nextends: ./a.yaml" },
      /b\.yaml:2:10: .*includes itself/,
    ],
    ["what is not there", { "a.yaml": "name: a\ninclude: [x/b.yaml]" }, /a\.yaml:2:11: cannot find/],
    ["an unknown name", { "a.yaml": "name: a\nextends: nonsense" }, /cannot find a policy named nonsense/],
    ["another language", { "a.yaml": "name: a\ninclude: b.lua" }, /"b\.lua" is not a YAML policy/],
    [
      "a default that would be lost",
      { "a.yaml": "name: a\ninclude: b.yaml", "b.yaml": "name: b\ndefault: deny" },
      /`default: deny`, which an include would lose: use extends/,
    ],
    [
      "an id that is taken",
      {
        "a.yaml": "name: a\ninclude: b.yaml\nrules: [{ id: r, deny: read }]",
        "b.yaml": "name: b\nrules: [{ id: r, deny: read }]",
      },
      /a\.yaml:3:15: the id r is already used by the rule at .*b\.yaml:2:9/,
    ],
    [
      "a broken file",
      { "a.yaml": "name: a\ninclude: b.yaml", "b.yaml": "name: b\nrules: [{ id: r, dney: read }]" },
      /b\.yaml:2:18: unknown key `dney`: did you mean `deny`/,
    ],
  ])(
    "a file cannot include %s",
    async (_, contents, message) => await expect(files(contents)("a.yaml")).rejects.toThrow(message),
  );

  test("a tree of files without end is refused", async () => {
    const contents: Record<string, string> = {};
    for (let i = 0; i < 110; i++) contents[`f${i}.yaml`] = `name: f\ninclude: f${i + 1}.yaml`;
    await expect(files(contents)("f0.yaml")).rejects.toThrow(/more than 100 files/);
  });
});

describe("examples", () => {
  test.each([
    [
      "deny: read, path: ~/.ssh/**",
      "{ match: [{ read: ~/.ssh/id }], not_match: [{ read: ~/x }, { write: ~/.ssh/id }] }",
    ],
    [
      "deny: write, path: /x",
      "{ match: [{ write: /x }, { delete: /x }, { chmod: /x }, { rename: /y, to: /x }, { link: /x, to: /z }] }",
    ],
    [
      "deny: connect, address: 10.0.0.0/8",
      "{ match: [{ connect: 10.0.0.1:80 }, { connect: 10.0.0.1 }, { call: sendto, address: 10.1.1.1:53 }], not_match: [{ connect: '[::1]:80' }] }",
    ],
    [
      "ask: exec, argv: [git, push], reason: x",
      "{ match: [{ exec: [git, push, origin] }], not_match: [{ exec: [git] }, { exec: /usr/bin/git }] }",
    ],
    [
      "deny: open, flags: O_CREAT",
      "{ match: [{ call: openat, path: /x, flags: [O_CREAT, O_WRONLY] }], not_match: [{ call: openat, path: /x }] }",
    ],
    [
      "deny: ioctl, where: { cmd: TIOCSTI }",
      "{ match: [{ call: ioctl, where: { cmd: 0x5412 } }], not_match: [{ call: ioctl }] }",
    ],
    ["deny: read, user: root", "{ match: [{ read: /x, user: 0 }], not_match: [{ read: /x }] }"],
    [
      "deny: read, process: { ancestor: /usr/bin/npm }",
      "{ match: [{ read: /x, ancestor: /usr/bin/npm }], not_match: [{ read: /x }] }",
    ],
    [
      "deny: exec, env: LD_PRELOAD",
      "{ match: [{ exec: [x], env: { LD_PRELOAD: /x } }], not_match: [{ exec: [x] }] }",
    ],
    [
      "deny: read, time: '09:00-17:00 UTC'",
      "{ match: [{ read: /x, at: '2026-01-05T12:00:00Z' }, { read: /x }], not_match: [{ read: /x, at: '2026-01-05T18:00:00Z' }] }",
    ],
    ["deny: read, when: { nth: 5 }", "{ match: [{ read: /x }] }"],
    ["deny: bind, address: '*:80'", "{ match: [{ bind: 0.0.0.0:80 }], not_match: [{ bind: 0.0.0.0:81 }] }"],
    [
      "deny: [signal, fork, ptrace, namespace, setuid, settime]",
      "{ match: [{ signal: }, { fork: }, { ptrace: }, { namespace: }, { setuid: }, { settime: }] }",
    ],
    [
      "deny: [stat, list, mkdir, mknod, symlink, truncate, chown, touch, xattr, chdir, monitor, load], path: /x",
      "{ match: [{ stat: /x }, { list: /x }, { mkdir: /x }, { mknod: /x }, { symlink: /x }, { truncate: /x }, { chown: /x }, { touch: /x }, { xattr: /x }, { chdir: /x }, { monitor: /x }, { load: /x }] }",
    ],
    [
      "deny: [send, receive, accept], address: 10.0.0.1",
      "{ match: [{ send: 10.0.0.1:1 }, { receive: 10.0.0.1:1 }, { accept: 10.0.0.1:1 }] }",
    ],
  ])("hold for %s", async (rule, examples) => {
    const flow = `name: x\nrules:\n  - { id: r, ${rule}, examples: ${examples} }\n`;
    expect((await load(flow)).rules).toHaveLength(1);
  });

  test("that do not match are an error with their line", async () =>
    expect(
      await errorOf("name: x\nrules:\n  - id: r\n    deny: read\n    examples: { match: [{ write: /x }] }\n"),
    ).toContain("x.yaml:5:25: rule r does not match its example: it is about read"));

  test("say why they do not match", async () =>
    expect(
      await errorOf(
        "name: x\nrules:\n  - { id: r, deny: read, path: /a, examples: { match: [{ read: /b }] } }",
      ),
    ).toContain("rule r does not match its example: path: /b is not in /a"));

  test("that match and must not are an error", async () =>
    expect(
      await errorOf("name: x\nrules:\n  - { id: r, deny: read, examples: { not_match: [{ read: /b }] } }"),
    ).toContain("x.yaml:3:50: rule r matches an example that it must not match"));

  test("name one effect, or a call", async () => {
    const bad = (example: string) =>
      errorOf(`name: x\nrules:\n  - { id: r, deny: read, examples: { match: [${example}] } }`);
    expect(await bad("{ path: /x }")).toContain("an example names one effect, or a `call`");
    expect(await bad("{ read: /x, write: /y }")).toContain("an example names one effect");
    expect(await bad("{ call: nope }")).toContain('unknown system call "nope"');
    expect(await bad("{ connect: nowhere }")).toContain("is not an address");
  });
});

describe("loading by extension", () => {
  test(".yaml and .yml are policies", async () => {
    for (const name of ["p.yaml", "p.yml"]) {
      writeFileSync(join(folder, name), "name: p\nrules: [{ id: r, deny: read, path: /x }]");
      expect((await loadPolicy(join(folder, name))).name).toBe("p");
    }
  });

  test("a policy that is loaded anew goes on counting where its rule did not change", async () => {
    const file = join(folder, "again.yaml");
    writeFileSync(
      file,
      "name: p\nrules: [{ id: start, allow: exec, when: { nth: 1 } }, { id: r, deny: exec }]",
    );
    const first = await loadPolicy(file);
    expect(first.decide(exec(["a"]))?.rule).toBe("start");
    const second = await loadPolicy(file, { previous: first });
    expect(second.decide(exec(["a"]))?.rule).toBe("r");
  });
});

describe("deciding", () => {
  test("imports nothing that needs a kernel", () => {
    const inputs = reached(join(root, "src/policy/yaml/load.ts"));
    expect(inputs.length).toBeGreaterThan(50); // it did follow the imports
    expect(inputs.filter((file) => /src\/(kernel|session)\//.test(file))).toEqual([]);
  });

  test("looks nothing up", async () => {
    let asked = 0;
    const counting =
      <A extends unknown[], R>(act: (...args: A) => R) =>
      (...args: A): R => {
        asked++;
        return act(...args);
      };
    const text =
      "name: x\nrules:\n  - { id: a, deny: read, path: ~/.ssh/**, user: me }\n  - { id: b, deny: connect, address: example.org }\n";
    const policy = await load(text, {
      realpath: counting((path: string) => path),
      lookUp: counting(async () => ["1.2.3.4"]),
      uidOf: counting(() => 1000),
    });
    const before = asked;
    expect(ruleOf(policy, open("/home/me/.ssh/x"))).toBe("a");
    expect(ruleOf(policy, connect("1.2.3.4:1"))).toBe("b");
    expect(asked).toBe(before);
  });
});
