import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HermesError } from "../../src/nouns/errors.js";
import { loadPolicy } from "../../src/policy/load.js";
import { Random } from "../support/random.js";
import { root } from "../support/root.js";

/** Policy files with something wrong in them: each is loaded, or refused with an error that a person can use. */

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-mutants-"));
  cpSync(join(root, "policies"), folder, { recursive: true }); // some include others
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FRAGMENTS = [
  ": ",
  "\n",
  "\n\n- ",
  "[",
  "]",
  "{",
  "}",
  "'",
  '"',
  "#",
  "&a ",
  "*a ",
  "!!binary ",
  "? ",
  "---\n",
  "\t",
  "\0",
  "\uFEFF",
  "\u{1F600}",
  "<<: ",
  "null",
  "~",
  "1e999",
  "-0x1",
  "$" + "{home}",
  "$" + "{x",
  "**/**/**",
  "{a,{b,{c",
  "[!",
  "999.999.999.999/99",
  "deny: read",
  "path: []",
  "when: { nth: -1 }",
  "end",
  "function on_syscall(",
  "..",
  "return ",
  "hermes.on(",
  "(".repeat(300),
  "[".repeat(2000),
  "x".repeat(5000),
];

function mutant(text: string, random: Random): string {
  let changed = text;
  for (let i = 0; i <= random.below(4); i++) {
    const at = random.below(changed.length + 1);
    const length = random.below(40);
    const piece = random.pick([
      "",
      random.pick(FRAGMENTS),
      changed.slice(at, at + length).repeat(2),
      String.fromCharCode(random.below(0x500)),
    ]);
    changed = changed.slice(0, at) + piece + changed.slice(at + random.pick([0, 1, length]));
  }
  return changed;
}

const policies = readdirSync(join(root, "policies")).filter((name) => /\.(yaml|lua)$/.test(name));

describe("a policy file with something wrong in it", () => {
  it.each(policies)("is loaded or refused, and says where: %s", async (name) => {
    const text = readFileSync(join(root, "policies", name), "utf8");
    const random = new Random([...name].reduce((sum, c) => sum * 31 + c.charCodeAt(0), 7));
    const file = join(folder, name);
    let refused = 0;
    for (let i = 0; i < 120; i++) {
      const changed = mutant(text, random);
      writeFileSync(file, changed);
      try {
        await loadPolicy(file);
      } catch (error) {
        refused++;
        expect(error, `${name} ${i}\n${(error as Error).stack}\n${changed}`).toBeInstanceOf(HermesError);
        // What a variable breaks is told where a rule uses it, which may be in a file that this one includes.
        const { message } = error as Error;
        expect(message.includes(name) || message.includes(folder), `${message}\n${changed}`).toBe(true);
      }
    }
    writeFileSync(file, text);
    expect(refused).toBeGreaterThan(10);
  });
});
