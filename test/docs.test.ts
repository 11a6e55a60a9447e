import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadPolicy } from "../src/policy/load.js";
import { DOCUMENTS } from "./support/documents.js";
import { root } from "./support/root.js";

/** The cookbook has a test of its own. */
const documents = DOCUMENTS.filter((name) => !name.endsWith("/cookbook.md"));

/** The fenced blocks of a document in one language, with the line each starts at. */
function blocks(document: string, language: string): { line: number; text: string }[] {
  const text = readFileSync(join(root, document), "utf8");
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map((m) => ({
    line: text.slice(0, m.index).split("\n").length + 1,
    text: m[1]!,
  }));
}

const PREPARED = ["hermes", "policies", "examples", "package.json", "dist", "node_modules"];

/** A folder in which the documents' commands find what they name. */
function workplace(): string {
  const folder = mkdtempSync(join(tmpdir(), "hermes-docs-"));
  for (const name of PREPARED) symlinkSync(join(root, name), join(folder, name));
  return folder;
}

/** Run by CI itself, on a clean checkout. */
const RUN_ELSEWHERE = /^npm (ci|start|test|run (attacks|bench|build))/;

describe("every command in the documents", () => {
  let folder: string;
  beforeAll(() => {
    folder = workplace();
    writeFileSync(join(folder, "app.py"), "print('hello')\n");
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  for (const document of documents)
    for (const { line, text } of blocks(document, "sh"))
      it(`runs: ${document}:${line}`, () => {
        for (const command of text
          .split("\n")
          .filter((c) => c.trim() !== "" && !c.startsWith("#") && !RUN_ELSEWHERE.test(c))) {
          const { status, stderr } = spawnSync("bash", ["-c", command], {
            cwd: folder,
            encoding: "utf8",
            timeout: 110_000,
          });
          expect(status, `${command}\n${stderr}`).toBe(0);
        }
      });
});

describe("every policy in the documents", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "hermes-docs-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  // The references of YAML and Lua have tests of their own, which know how to read fragments.
  const whole = documents.filter((name) => !/reference\/(yaml|lua)/.test(name));
  const written = whole.flatMap((document) =>
    ["ts", "yaml"].flatMap((language) =>
      blocks(document, language).map((block) => ({ ...block, document, language })),
    ),
  );
  for (const { document, line, text, language } of written.filter((b) =>
    /^export default|^name:/m.test(b.text),
  ))
    it(`loads: ${document}:${line}`, async () => {
      const file = join(folder, `${line}.${language}`);
      writeFileSync(file, text);
      const { calls, constants, functions = [], instructions = [] } = (await loadPolicy(file)).subscription;
      const wanted = calls.size + constants.length + functions.length + instructions.length;
      expect(wanted).toBeGreaterThan(0);
    });
});

describe("every policy that ships", () => {
  for (const name of readdirSync(join(root, "policies")).filter((n) => !n.endsWith(".test.yaml")))
    it(`loads, and nothing in it is suspicious: policies/${name}`, async () => {
      const policy = await loadPolicy(join(root, "policies", name));
      expect(policy.name).toBe(name.replace(/\.\w+$/, ""));
      expect(policy.lint?.() ?? []).toEqual([]);
    });
});

describe("every recipe of the cookbook", () => {
  const recipes = readFileSync(join(root, "docs/how-to/cookbook.md"), "utf8").split(/^### /m).slice(1);
  let folder: string;
  beforeAll(() => {
    folder = workplace();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("is one of at least 25", () => expect(recipes.length).toBeGreaterThanOrEqual(25));

  for (const recipe of recipes)
    it(`does what it says: ${recipe.split("\n")[0]}`, () => {
      for (const [, name, text] of recipe.matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```/gm))
        writeFileSync(join(folder, name!), text!);
      const commands = [...recipe.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap((m) =>
        m[1]!.split("\n").filter(Boolean),
      );
      let compared = 0;
      for (const line of commands) {
        const [command, expected] = line.split("#=>").map((part) => part.trim());
        const { stdout, stderr } = spawnSync("bash", ["-c", command!], {
          cwd: folder,
          encoding: "utf8",
          timeout: 110_000,
        });
        if (expected === undefined) continue;
        compared++;
        expect(stdout, `${command}\n${stderr}`).toMatch(
          new RegExp(expected === "[1-9]" ? "^[1-9]" : literally(expected)),
        );
      }
      expect(compared).toBeGreaterThan(0);
    });
});

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
