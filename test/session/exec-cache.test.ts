import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { HERMES, hermes } from "../support/cli.js";

/** Execs whose verdict is known go on without a decision (native/doors/exec-cache.c). What they start is compared all the same. */

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-known-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a script of the shell under these rules. */
function under(rules: string, script: string, options: readonly string[] = []) {
  const policy = join(folder, "policy.yaml");
  writeFileSync(policy, `name: test\nrules:\n${rules}\n`);
  const command = ["run", "-p", policy, ...options, "--", "bash", "--norc", "-c", script];
  const result = hermes(command, { cwd: folder });
  return { ...result, lines: result.stdout.split("\n").filter(Boolean) };
}
const NO_ENV = "  - { id: env, deny: exec, path: /usr/bin/env, reason: Not this program. }";

it("two hundred equal execs all run, and are counted as by the trace door, which has no cache", () => {
  const seen = (door: string) => {
    const { lines, stderr } = under(NO_ENV, "for i in $(seq 200); do /bin/echo same; done", ["--door", door]);
    expect(lines).toEqual(Array(200).fill("same"));
    return /· (\S+) calls seen/.exec(stderr)?.[1];
  };
  expect(seen("auto")).toBe(seen("trace"));
});

it("other words are decided on, although the program is known", () => {
  const rules = `  - { id: word, deny: exec, argv_matches: 'forbidden$', reason: Not this word. }`;
  const script =
    "for i in 1 2 3 4 5 6 7 8; do /bin/echo permitted; done; /bin/echo forbidden; /bin/echo permitted";
  const { lines, stderr } = under(rules, script);
  expect(lines).toEqual(Array(9).fill("permitted"));
  expect(stderr).toMatch(/deny\s+execve\s+×1 /);
});

it("a known path that leads to a forbidden program since does not run it", () => {
  const script = `ln -sf /bin/echo ${folder}/tool
for i in 1 2 3 4 5 6 7 8; do ${folder}/tool HOME; done
ln -sf /usr/bin/env ${folder}/tool; ${folder}/tool HOME; echo $?; ${folder}/tool HOME 2>/dev/null; echo $?`;
  const { lines, stderr } = under(NO_ENV, script);
  expect(lines).toEqual([...Array(8).fill("HOME"), "137", "126"]);
  expect(stderr).toContain("test/env: Not this program. (/usr/bin/env was in place of what was decided on)");
});

it("… and one that leads to another permitted program runs that", () => {
  const script = `ln -sf /bin/echo ${folder}/tool
for i in 1 2 3 4 5 6 7 8; do ${folder}/tool here; done
ln -sf /usr/bin/printf ${folder}/tool; ${folder}/tool there`;
  expect(under(NO_ENV, script).lines).toEqual([...Array(8).fill("here"), "there"]);
});

it("a script's interpreter is judged each time, also where the script was replaced", () => {
  const script = `printf '#!/bin/cat\\n' > script; chmod +x script
for i in 1 2 3 4 5 6 7 8; do ${folder}/script; done
printf '#!/usr/bin/env cat\\n' > script; ${folder}/script 2>/dev/null; echo $?`;
  const { lines, stderr } = under(NO_ENV, script);
  expect(lines).toEqual([...Array(8).fill("#!/bin/cat"), "126"]);
  expect(stderr).toMatch(/deny\s+execve\s+×1 /);
});

it("rules that count, or that look at more than file and words, are asked every time", () => {
  const loop = "for i in $(seq 12); do VALUE=$i /bin/echo $i 2>/dev/null || echo refused; done";
  const same = loop.replace("echo $i", "echo x");
  const nth = "  - { id: nth, deny: exec, path: /usr/bin/echo, when: { nth: 10 }, reason: Not the tenth. }";
  const [refused] = [under(nth, same).lines].map((lines) => lines.indexOf("refused"));
  expect(refused).toBe(9);
  const env = "  - { id: env, deny: exec, env: { VALUE: '11' }, reason: Not this value. }";
  expect(under(env, same).lines.indexOf("refused")).toBe(10);
});

it("a policy that is reloaded decides on known execs too", async () => {
  const policy = join(folder, "reloaded.yaml");
  const write = (rule: string) => writeFileSync(policy, `name: test\nrules:\n${rule}\n`);
  write(NO_ENV);
  const script = `while /bin/echo known; do :; done; echo over`;
  const child = spawn(HERMES, ["run", "-p", policy, "--", "bash", "--norc", "-c", script], { cwd: folder });
  let said = "";
  child.stdout.on("data", (bytes) => {
    said += bytes;
  });
  const ended = once(child, "close");
  await expect.poll(() => said.split("known").length, { timeout: 60_000 }).toBeGreaterThan(50);
  write("  - { id: echo, deny: exec, path: /usr/bin/echo, reason: No more. }");
  await ended;
  expect(said.split("\n").at(-2)).toBe("over");
});

it("calls of other kinds that come between execs are all answered", () => {
  const rules = `${NO_ENV}\n  - { id: write, deny: write, path: /nowhere/**, reason: Not there. }`;
  const script = `for i in $(seq 40); do /bin/true; /bin/true; /bin/true; /bin/true; /bin/true; echo $i > f; cat f; done`;
  expect(under(rules, script).lines).toEqual(Array.from({ length: 40 }, (_, i) => String(i + 1)));
});

it("many processes that exec and open at the same time all come to their end", () => {
  const rules = `${NO_ENV}\n  - { id: write, deny: write, path: /nowhere/**, reason: Not there. }`;
  const script = `for k in 1 2 3 4; do (for i in $(seq 60); do /bin/true; echo $i > f$k; done; echo done) & done; wait`;
  expect(under(rules, script).lines).toEqual(Array(4).fill("done"));
});
