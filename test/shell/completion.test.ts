import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermes } from "../support/cli.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-completion-"));
  for (const shell of ["bash", "zsh", "fish"])
    writeFileSync(join(folder, shell), hermes(["completion", shell]).stdout);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(program: string, args: readonly string[]): string {
  const env = { PATH: process.env.PATH, HOME: folder, TERM: "dumb" };
  const { stdout, stderr } = spawnSync(program, args, {
    encoding: "utf8",
    timeout: 110_000,
    env,
    cwd: folder,
  });
  expect(stderr).toBe("");
  return stdout;
}

/** What each shell offers behind these words, the last of which is being typed. */
const OFFERS: Readonly<Record<string, (words: readonly string[]) => string[]>> = {
  bash(words) {
    const line = words.map((word) => `'${word}'`).join(" ");
    const script = `source ./bash; COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _hermes; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return run("bash", ["--norc", "-c", script]).split("\n").filter(Boolean);
  },
  zsh(words) {
    // Its completion runs only at a keyboard: what it would offer is taken from its own helpers.
    const line = words.map((word) => `'${word}'`).join(" ");
    const script = `
autoload -Uz compinit && compinit -D -u
source ./zsh
[[ $_comps[hermes] == _hermes ]] || exit 1
_describe() { print -rl -- \${(P)2%%:*} }
compadd() { print -rl -- \${(P)2} }
_files() { print FILES }
words=(${line}) CURRENT=${words.length}
_hermes`;
    const offered = run("zsh", ["-f", "-c", script]).split("\n").filter(Boolean);
    return offered.filter((word) => word.startsWith(words.at(-1)!));
  },
  fish(words) {
    const line = words.join(" ");
    return run("fish", ["--no-config", "-c", `source ./fish; complete -C '${line}'`])
      .split("\n")
      .filter(Boolean)
      .map((entry) => entry.split("\t")[0]!);
  },
};

/** The twelve with a line each, and the names of the others. */
function commandsInHelp(): string[] {
  const help = hermes(["--help"]).stdout;
  const first = [...help.matchAll(/^ {2}([a-z][a-z-]+) {2,}\S/gm)].map((match) => match[1]!);
  expect(first).toHaveLength(12);
  const others = [...help.matchAll(/^ {2}(?:also: )?([a-z-]+(?:, [a-z-]+)+|(?<=also: )[a-z-]+)$/gm)].flatMap(
    (match) => match[1]!.split(", "),
  );
  return [...first, ...others];
}

it("hermes run --help shows a dozen options, and --help-all every one", () => {
  const count = (text: string) => [...text.matchAll(/^ {2}(?:-\w, )?--[a-z-]+/gm)].length;
  const short = hermes(["run", "--help"]).stdout;
  expect(count(short)).toBeLessThanOrEqual(16);
  expect(short).toContain("--help-all");
  expect(short).toContain("Examples:");
  const all = hermes(["run", "--help-all"]).stdout;
  expect(count(all)).toBeGreaterThan(40);
  expect(all).toContain("--trace-overflow");
});

describe.each(Object.keys(OFFERS))("completion for %s", (shell) => {
  const offers = (...words: string[]) => OFFERS[shell]!(words);

  it("offers every command, and those that begin as what is typed", () => {
    const commands = commandsInHelp();
    expect(commands.length).toBeGreaterThan(30);
    // The first page names every command, in groups.
    expect(
      offers("hermes", "")
        .filter((name) => name !== "help" && /^[a-z]/.test(name))
        .sort(),
    ).toEqual(commands.sort());
    const some = offers("hermes", "comp");
    expect(some).toContain("completion");
    expect(some).not.toContain("run");
  });

  it("offers commands of commands, options and the words that they take", () => {
    expect(offers("hermes", "policy", "")).toEqual(expect.arrayContaining(["check", "test", "explain"]));
    expect(offers("hermes", "run", "--po")).toContain("--policy");
    expect(offers("hermes", "run", "--fence", "")).toEqual(
      expect.arrayContaining(["none", "standard", "strict"]),
    );
    expect(offers("hermes", "install", "")).toEqual(
      expect.arrayContaining(["claude-code", "codex", "gemini"]),
    );
    expect(offers("hermes", "doctor", "--")).not.toContain("--policy");
  });
});

it("completion for another shell is wrong usage", () =>
  expect(hermes(["completion", "csh"])).toMatchObject({ status: 2, stdout: "" }));
