import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "./support/root.js";

/** One row of docs/reference/seeds.md: a statement, a command with what it prints, and the test that holds it. */
interface Row {
  readonly line: number;
  readonly statement: string;
  readonly command: string | undefined;
  readonly prints: string | undefined;
  readonly test: string;
  readonly title: string | undefined;
}

const document = readFileSync(join(root, "docs/reference/seeds.md"), "utf8");
const ROW =
  /^\| (?<statement>.+?) \| (?<shown>—|``.+?``(?: → ``.+?``)?) \| `(?<test>[^`]+)`(?: “(?<title>.+)”)? \|$/;

const rows: readonly Row[] = document.split("\n").flatMap((text, i) => {
  const { statement, shown, test, title } = ROW.exec(text)?.groups ?? {};
  if (test === undefined) return [];
  const [command, prints] = [...shown!.matchAll(/`` (.+?) ``/g)].map((found) => plain(found[1]!));
  return [{ line: i + 1, statement: statement!, command, prints, test, title: title && plain(title) }];
});

function plain(cell: string): string {
  return cell.replaceAll("\\|", "|");
}

describe("the page of the seed documents", () => {
  it("has every row in the form that this test reads, for all five documents", () => {
    const tables = document.split("## What is different")[0]!;
    const lines = tables
      .split("\n")
      .filter((text) => text.startsWith("| ") && !text.startsWith("| statement"));
    expect(lines.length).toBe(rows.length);
    for (const seed of ["000", "001", "002", "003", "004"])
      expect(document).toMatch(new RegExp(`^## ${seed}, `, "m"));
    expect(rows.length).toBeGreaterThan(190);
  });

  it("names tests that exist", () => {
    const missing = rows.filter(({ test, title }) => {
      const file = join(root, test);
      return !existsSync(file) || (title !== undefined && !readFileSync(file, "utf8").includes(title));
    });
    expect(
      missing.map(({ line, test, title }) => `docs/reference/seeds.md:${line}: ${test} ${title}`),
    ).toEqual([]);
  });
});

describe("every command of the seed documents", () => {
  let folder: string;
  let env: NodeJS.ProcessEnv;
  beforeAll(() => {
    folder = mkdtempSync(join(homedir(), ".hermes-test-seeds-"));
    const NAMES =
      "hermes hermes.cjs policies rules demo examples dist node_modules package.json Makefile .github";
    for (const name of NAMES.split(" ")) symlinkSync(join(root, name), join(folder, name));
    for (const [, file, text] of document.matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```/gm)) {
      mkdirSync(dirname(join(folder, file!)), { recursive: true });
      writeFileSync(join(folder, file!), text!);
    }
    const home = mkdtempSync(join(tmpdir(), "hermes-seeds-"));
    env = {
      ...process.env,
      PATH: `${folder}:${process.env.PATH}`,
      HERMES_HOME: home,
      HERMES_STORE: join(home, "hermes.db"),
      HERMES_WORKSPACE: folder,
    };
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
    rmSync(env.HERMES_HOME!, { recursive: true, force: true });
  });

  const shell = (command: string) =>
    new Promise<string>((resolve) => {
      const child = execFile("bash", ["-c", command], { cwd: folder, env, timeout: 110_000 }, (_, out, err) =>
        resolve(out + err),
      );
      child.stdin?.end();
    });

  for (const { line, command, prints, statement } of rows)
    if (command !== undefined && prints !== undefined)
      it.concurrent(`shows: ${statement} (docs/reference/seeds.md:${line})`, async () => {
        expect(await shell(command)).toContain(prints);
      });
});
