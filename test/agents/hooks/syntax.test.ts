import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { isPlainScript } from "../../../src/agents/hooks/plain-script.js";
import { syntaxError } from "../../../src/agents/hooks/syntax.js";

/** Words and signs that end up beside each other in every order. */
const PIECES = [
  ..."if then else elif fi case esac for select while until do done in function time coproc".split(" "),
  ..."a b=1 ls -l ./x 'q' \"d\" iffy time. x'if' && || | ; & ( ) { } [[ ]] ! # $ ` < > \\ ' \" \n = [ ] * ? ~ !x".split(
    " ",
  ),
];

function parsedByBash(command: string): boolean {
  return spawnSync("bash", ["--norc", "--noprofile", "-n", "-c", "--", command]).status === 0;
}

describe("whether bash can parse a command", () => {
  it("is known without bash for simple commands", () => {
    for (const command of [
      "true",
      "git status && npm test",
      "grep -r 'a b' src | wc -l; A=1 env",
      'echo "x y"',
    ])
      expect([command, isPlainScript(command)]).toEqual([command, true]);
  });

  it("is asked of bash where its grammar has a say", () => {
    for (const command of [
      "",
      ";",
      "a &",
      "a &&",
      "if a",
      "a; then",
      "x; } & y; {",
      "echo $x",
      "a > b",
      "time",
      "a\nb",
    ])
      expect([command, isPlainScript(command)]).toEqual([command, false]);
  });

  it("is never claimed of a command that bash refuses", () => {
    const random = numbers(20);
    const plain = new Set<string>();
    for (let i = 0; i < 60_000; i++) {
      const pieces = Array.from({ length: 1 + (random() % 6) }, () => PIECES[random() % PIECES.length]!);
      const command = pieces.join(random() % 4 === 0 ? "" : " ");
      if (isPlainScript(command)) plain.add(command);
    }
    expect(plain.size).toBeGreaterThan(300);
    // One bash parses all: each stands in a group of its own line, so one that does not parse spoils the whole.
    expect(parsedByBash([...plain].map((command) => `{ ${command}\n}`).join("\n"))).toBe(true);
  });

  it("is told with bash's words", () => {
    expect(syntaxError("if true")).toMatch(/syntax error/);
    expect(syntaxError("x; } & y; {")).toMatch(/syntax error/);
  });
});

/** The same numbers at each run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 8;
  };
}
