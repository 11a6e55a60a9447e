import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { hermes } from "../support/cli.js";
import { program } from "../support/programs.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-functions-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
function policy(text: string, extension = "ts"): string {
  const file = join(folder, `policy-${count++}.${extension}`);
  writeFileSync(file, text);
  return file;
}

const typescript = (body: string) =>
  policy(`import { allow, ask, definePolicy, delay, deny, emulate, fault, kill, modify } from "hermes-runtime";
export default definePolicy({ name: "hooks", ${body} });`);

/** What a run prints, and what HERMES says. */
function run(file: string, command: readonly string[], more: readonly string[] = []) {
  const { stdout, stderr, status } = hermes(["run", "--policy", file, ...more, "--", ...command]);
  return { out: stdout, log: stderr, status };
}

const hooked = program("hooked", "-ldl");
const later = join(folder, "liblater.so");
writeFileSync(
  join(folder, "later.c"),
  'long loaded_later(long n) { __asm__ volatile("" ::: "memory"); return n * 2; }\n',
);
execFileSync("gcc", ["-shared", "-fPIC", "-O2", "-o", later, join(folder, "later.c")]);
const plain = execFileSync(hooked, [later], { encoding: "utf8" });

describe("a program whose every function is looked at", () => {
  it("does what it does without us: jumps, contexts, signals, traps of its own, forks, libraries that come and go", () => {
    const all = typescript(`
      on: { "app!*"(e) { void e.name; }, "liblater!*"() {} },
      returns: { "app!*"(e) { void e.result; }, "libc!malloc"() {}, "libc!free"() {}, "liblater!*"() {} }`);
    const { out, status } = run(all, [hooked, later]);
    expect(out).toBe(plain);
    expect(status).toBe(0);
  });
});
