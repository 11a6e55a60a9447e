// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies have variables of their own
import { describe, expect, test } from "vitest";
import { loadYaml } from "../../../src/policy/yaml/load.js";
import { cpuMs } from "../../support/cpu.js";
import { errorOf, write } from "./policies.js";

const rule = (text: string) => `name: x\nrules:\n  - { id: a, ${text} }\n`;
const block = (...lines: string[]) =>
  `name: x\nrules:\n  - id: a\n${lines.map((line) => `    ${line}\n`).join("")}`;

describe("a mistake is told with its line, its column and what to do", () => {
  test.each<[string, string, string]>([
    // keys
    [
      "unknown key of a rule",
      block("deny: connect", "adress: 10.0.0.1"),
      "x.yaml:5:5: unknown key `adress`: did you mean `address`?",
    ],
    [
      "unknown key of the file",
      "name: x\nrule: []\n",
      "x.yaml:2:1: unknown key `rule`: did you mean `rules`?",
    ],
    [
      "unknown key that is like nothing",
      "name: x\nzzzzzz: 1\n",
      "x.yaml:2:1: unknown key `zzzzzz` (known: $schema, name",
    ],
    [
      "unknown key of when",
      block("deny: read", "when: { nht: 1 }"),
      "x.yaml:5:13: unknown key `nht`: did you mean `nth`?",
    ],
    [
      "unknown key of process",
      block("deny: read", "process: { anscestor: /x }"),
      "unknown key `anscestor`: did you mean `ancestor`?",
    ],
    [
      "unknown key of examples",
      block("deny: read", "examples: { matches: [] }"),
      "unknown key `matches`: did you mean `match`?",
    ],
    [
      "unknown key in an example",
      block("deny: read", "examples: { match: [{ raed: /x }] }"),
      "x.yaml:5:25: rule a: unknown key `raed` in an example: did you mean `read`?",
    ],
    // actions
    ["no action", block("path: /x"), "x.yaml:3:5: a rule needs an action: one of allow, deny, kill"],
    [
      "two actions",
      block("deny: read", "allow: read"),
      "x.yaml:3:5: a rule has one action, not allow and deny",
    ],
    [
      "unknown effect",
      block("deny: raed"),
      'x.yaml:4:11: rule a: unknown effect, class or system call "raed": did you mean "read"?',
    ],
    ["unknown class", block('deny: "%flie"'), 'unknown class "%flie": did you mean "file"?'],
    ["unknown call", block("deny: opentat()"), 'unknown system call "opentat()": did you mean "openat"?'],
    ["empty list of effects", block("deny: []"), "x.yaml:4:11: `deny` is an empty list"],
    ["no id", "name: x\nrules:\n  - deny: read\n", "x.yaml:3:5: `id` is missing"],
    ["bad id", "name: x\nrules:\n  - { id: 'a b', deny: read }\n", "x.yaml:3:11: `id` takes letters, digits"],
    ["ask without a reason", block("ask: exec"), "x.yaml:4:10: rule a: `ask` needs a `reason`"],
    ["fault without anything wrong", block("fault: read"), "`fault` needs errno, delay, signal or short"],
    ["redirect without to", block("redirect: read", "path: /x"), "`redirect` needs `to`"],
    ["modify without a change", block("modify: write"), "`modify` needs `args` or `data`"],
    ["emulate without an answer", block("emulate: uname"), "`emulate` needs `result`, `data` or `content`"],
    [
      "a key of another action",
      block("deny: read", "to: /x"),
      "x.yaml:5:9: rule a: `to` does not go with `deny` (it goes with redirect)",
    ],
    [
      "errno with kill",
      block("kill: read", "errno: EIO"),
      "`errno` does not go with `kill` (it goes with deny, fault)",
    ],
    [
      "unknown errno",
      block("deny: read", "errno: ENOET"),
      'x.yaml:5:12: rule a: unknown error "ENOET": did you mean ENOENT?',
    ],
    ["unknown signal", block("fault: read", "signal: SIGFOO"), 'unknown signal "SIGFOO"'],
    ["bad delay", block("fault: read", "delay: soon"), '"soon" is not a duration'],
    ["bad size", block("fault: read", "short: -5"), '"-5" is not a size'],
    ["content and result", block("emulate: read", "content: x", "result: 1"), "`content` cannot be combined"],
    [
      "unknown field of uname",
      block("emulate: uname", "data: { nodname: x }"),
      "unknown key `nodname` in data: did you mean `nodename`?",
    ],
    ["bad base64", block("emulate: getrandom", "data: { base64: '!!' }"), "this is not base64"],
    [
      "content for a call that opens nothing",
      block("emulate: uname", "content: x"),
      "`emulate` cannot be used this way on uname",
    ],
    [
      "arguments that no call has",
      block("modify: mkdir", "args: { colour: 1 }"),
      "`modify` cannot be used this way on",
    ],
    [
      "a tree without a tree",
      block("redirect: read", "path: /x/*", "to: /y/**"),
      "needs a `path` that ends in /**",
    ],
    // conditions
    [
      "empty list of paths",
      block("deny: read", "path: []"),
      "x.yaml:5:11: `path` is an empty list, which would match nothing",
    ],
    [
      "empty list of addresses",
      block("deny: connect", "address: []"),
      "x.yaml:5:14: `address` is an empty list",
    ],
    ["empty path", block("deny: read", "path:"), "`path` has no value: it takes a path pattern"],
    [
      "path that is no path",
      block("deny: read", "path: [/a, b]"),
      'x.yaml:5:16: rule a: "b" would match nothing',
    ],
    [
      "path on a network effect",
      block("deny: connect", "path: /x"),
      "x.yaml:5:5: rule a: `path` cannot be used here: connect has no file",
    ],
    [
      "address on a file effect",
      block("deny: read", "address: 10.0.0.1"),
      "x.yaml:5:5: rule a: `address` cannot be used here: read has no address",
    ],
    ["path and address", block("deny: [read, connect]", "path: /x", "address: 10.0.0.1"), "write two rules"],
    ["argv on reading", block("deny: read", "argv: [git]"), "only exec has a command line"],
    [
      "map for a path",
      block("deny: read", "path: {a,b}"),
      "`path` takes a path pattern, or a list of them, not a map",
    ],
    [
      "unknown variable",
      block("deny: read", 'path: "${hoem}/x"'),
      "unknown variable ${hoem}: did you mean ${home}?",
    ],
    ["variable without end", block("deny: read", 'path: "/${home/x"'), "a ${ is never closed"],
    [
      "home of another",
      block("deny: read", "path: ~root/x"),
      "write the home folder of another user as an absolute path",
    ],
    ["regular expression", block("deny: exec", "argv_matches: '(a'"), "is not a regular expression of RE2"],
    ["backreference", block("deny: exec", "argv_matches: '(a)\\1'"), "is not a regular expression of RE2"],
    ["unknown flag", block("deny: open", "flags: O_CRAET"), 'unknown flag "O_CRAET": did you mean O_CREAT?'],
    ["flags of what has none", block("deny: fdatasync", "flags: O_CREAT"), "have no flags"],
    [
      "unknown argument",
      block("deny: socket", "where: { familly: 1 }"),
      'has an argument "familly": did you mean "family"?',
    ],
    [
      "unknown value",
      block("deny: socket", "where: { family: AF_INTE }"),
      'family has no value "AF_INTE": did you mean AF_INET?',
    ],
    [
      "word for a number",
      block("deny: write()", "where: { count: many }"),
      'count takes a number such as 100, 0x40 or 1MB, not "many"',
    ],
    ["unknown user", block("deny: read", "user: nobody-here"), 'there is no user "nobody-here"'],
    ["bad time", block("deny: read", "time: noon"), '"noon" is'],
    ["no such hour", block("deny: read", "time: '25:00-26:00'"), "there is no time 25:00"],
    ["bad rate", block("deny: connect", "rate: fast"), '"fast" is not a rate: write 100/minute'],
    ["rate of nothing", block("deny: connect", "rate: 0/minute"), "a rate counts from 1"],
    [
      "probability above one",
      block("fault: read", "errno: EIO", "when: { probability: 2 }"),
      "x.yaml:6:26: `probability`",
    ],
    ["empty when", block("deny: read", "when: {}"), "`when` is empty"],
    [
      "seed alone",
      block("deny: read", "when: { seed: 1 }"),
      "a `seed` has no effect without a `probability`",
    ],
    ["empty where", block("deny: socket", "where: {}"), "`where` is empty"],
    // the file
    [
      "unknown default",
      "name: x\ndefault: no\n",
      'x.yaml:2:10: `default` takes allow, deny or ask, not "no"',
    ],
    [
      "unknown requirement",
      "name: x\nrequires: [magic]\nrules: [{ id: a, deny: read }]\n",
      "x.yaml:2:12: takes notify, trace, no_new_privs, fence, namespaces, ",
    ],
    ["rules that are no list", "name: x\nrules: { a: 1 }\n", "`rules` takes a list of rules, not a map"],
    ["a rule that is no map", "name: x\nrules: [deny]\n", "a rule is a map"],
    ["a list", "- a\n", "a policy is a map with a name and rules"],
    ["nothing", "", "a policy is a map with a name and rules"],
    ["no name", "rules: []\n", "`name` is missing"],
    ["nothing to do", "name: x\nrules: []\n", "it has no effect"],
    [
      "two rules with one id",
      "name: x\nrules:\n  - { id: a, deny: read }\n  - { id: a, deny: write }\n",
      "x.yaml:4:11: the id a is already used by the rule at x.yaml:3:5",
    ],
  ])("%s", async (_, text, message) => expect(await errorOf(text)).toContain(message));

  test("several are told at once", async () => {
    const message = await errorOf(block("deny: read", "pth: /x", "resaon: y"));
    expect(message).toContain("x.yaml:5:5: unknown key `pth`");
    expect(message).toContain("x.yaml:6:5: unknown key `resaon`");
  });

  test("a file that is not there is no policy", async () =>
    await expect(loadYaml("/no/such/policy.yaml")).rejects.toMatchObject({ code: "POLICY_NOT_FOUND" }));

  test("its code says whether it was the syntax or the meaning", async () => {
    await expect(loadYaml(write("a: [", "s.yaml"))).rejects.toMatchObject({
      code: "POLICY_SYNTAX",
      exitCode: 125,
    });
    await expect(loadYaml(write(rule("deny: nope"), "m.yaml"))).rejects.toMatchObject({
      code: "POLICY_INVALID",
    });
  });
});

describe("the traps of YAML have answers", () => {
  test.each<[string, string, string]>([
    ["a tab", "name: x\nrules:\n\t- a\n", "x.yaml:3:1: a tab is used for indentation"],
    ["a key that is there twice", "name: x\nname: y\n", "x.yaml:2:1: the key is there twice"],
    [
      "an exception without quotes",
      rule("deny: read, path: [/x/**, !/x/y]"),
      'put a pattern that starts with ! into quotes: "!/x/y"',
    ],
    [
      "a star without quotes",
      rule("deny: read, path: [*.pem]"),
      'put a pattern that starts with * into quotes: "*.pem"',
    ],
    ["a class without quotes", rule("deny: %file"), "put the text into quotes"],
    ["a lone tilde", rule("deny: read, path: [~]"), 'a lone ~ means "nothing" to YAML'],
    [
      "an unquoted IPv6 address",
      "name: x\nrules:\n  - id: a\n    deny: connect\n    address: [::1]:80\n",
      "x.yaml:5:",
    ],
    ["an unquoted comparison", rule("deny: write(), where: { count: > 1MB }"), "put the text into quotes"],
    ["a custom tag", "name: !evil x\n", "is a tag to YAML"],
    ["a known tag", "name: !!binary aGk=\n", "are not used here"],
    [
      "a merge key",
      "name: x\nrules:\n  - { <<: { deny: read }, id: a }\n",
      "merge keys (<<) are not part of YAML 1.2",
    ],
    ["two documents", "name: x\n---\nname: y\n", "more than one document"],
    ["a key that is a list", "name: x\n? [a]\n: b\n", "a key is a plain word"],
    ["__proto__", "name: x\n__proto__: { a: 1 }\n", "a key cannot be named __proto__"],
    ["a quote that is never closed", 'name: "x\n', "missing closing"],
  ])("%s", async (_, text, message) => expect(await errorOf(text)).toContain(message));

  test("yes, no, on and off are words", async () =>
    expect(await errorOf("name: no\ndefault: off\n")).toContain(
      '`default` takes allow, deny or ask, not "off"',
    ));

  test("anchors may be used", async () => {
    const text =
      "name: x\nrules:\n  - { id: a, deny: read, path: &keys [/k/**] }\n  - { id: b, deny: write, path: *keys }\n";
    expect((await loadYaml(write(text))).rules.map(({ id }) => id)).toEqual(["a", "b"]);
  });
});

describe("a hostile file is refused, and quickly", () => {
  const bomb = ["a: &a [x,x,x,x,x,x,x,x,x,x]"];
  for (let i = 1; i < 9; i++)
    bomb.push(`${"abcdefghi"[i]}: &${"abcdefghi"[i]} [${`*${"abcdefghi"[i - 1]},`.repeat(10).slice(0, -1)}]`);
  test.each<[string, string, string]>([
    ["anchors that multiply", `${bomb.join("\n")}\n`, "it has more than 500,000 values"],
    ["an anchor in itself", "name: x\nvariables: &a { b: *a }\n", ""],
    ["brackets without end", "[".repeat(100_000), "nested more than 64 deep"],
    ["braces without end", `name: ${"{a: ".repeat(5000)}`, "nested more than 64 deep"],
    ["dashes without end", `${"- ".repeat(20_000)}a`, "nested more than 64 deep"],
    [
      "ever deeper lines",
      Array.from({ length: 2000 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"),
      "nested more than 64 deep",
    ],
    ["too much of it", `name: x\n# ${"x".repeat(5_000_000)}\n`, "larger than 4 MB"],
    ["a NUL", "name: x\0y\n", "holds a NUL byte"],
    [
      "braces in a pattern",
      rule(`deny: read, path: "/${"{a,b,c,d}".repeat(12)}"`),
      "more than 1000 alternatives",
    ],
    [
      "variables that multiply",
      `name: x\nvariables: { v: [${"/a,".repeat(40).slice(0, -1)}] }\nrules: [{ id: a, deny: read, path: "/x\${v}\${v}" }]\n`,
      "more than 1000 values",
    ],
    [
      "a variable in itself",
      'name: x\nvariables: { a: "${b}", b: "${a}" }\nrules: [{ id: r, deny: read, path: "/${a}" }]\n',
      "refers to itself",
    ],
  ])("%s", async (_, text, message) => {
    const started = cpuMs();
    expect(await errorOf(text)).toContain(message);
    expect(cpuMs() - started).toBeLessThan(30_000);
  });

  test("what is not UTF-8", async () => {
    const file = write("");
    const { writeFileSync } = await import("node:fs");
    writeFileSync(file, Buffer.from([0x6e, 0xff, 0xfe]));
    await expect(loadYaml(file)).rejects.toThrow("it is not UTF-8");
  });
});
