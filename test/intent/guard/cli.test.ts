import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../support/root.js";

const hermes = (args: string[], input = "") =>
  spawnSync(join(root, "hermes"), ["guard", ...args], { input, encoding: "utf8" });

describe("hermes guard batch", () => {
  it("answers every line in order, with its id", () => {
    const questions = [
      { id: "a", kind: "command", input: "ls" },
      { id: 2, kind: "text", input: "hello" },
      { id: null, input: "pwd" },
    ];
    const { stdout, status } = hermes(["batch"], questions.map((q) => JSON.stringify(q)).join("\n"));
    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(status).toBe(0);
    expect(answers.map(({ id, action }) => [id, action])).toEqual([
      ["a", "allow"],
      [2, "allow"],
      [null, "allow"],
    ]);
  });

  it("refuses lines that it cannot parse", () => {
    const { stdout } = hermes(
      ["batch"],
      'not json\n{"id":1,"kind":"nonsense","input":"x"}\n{"id":2}\nnull\n',
    );
    const actions = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).action);
    expect(actions).toEqual(["deny", "deny", "deny", "deny"]);
  });
});

describe("hermes guard check", () => {
  it("exits with status 0 for an allowed command", () => {
    expect(hermes(["check", "ls -la"]).status).toBe(0);
  });

  it("says which findings the runtime check would decide again", () => {
    const { stdout } = hermes(["check", "cat ~/.ssh/id_rsa; git push; echo $API_KEY"]);
    for (const held of ["when the file is opened", "again when it starts", "no later check"])
      expect(stdout).toContain(held);
  });

  it("reads from stdin with -", () => {
    const { stdout, status } = hermes(["check", "--json", "-"], "ls\n");
    expect([status, JSON.parse(stdout).action]).toEqual([0, "allow"]);
  });

  it("rejects an unknown kind, field or profile", () => {
    for (const wrong of [
      ["--kind", "poem"],
      ["--profile", "lax"],
      ["--field", "novalue"],
    ])
      expect(hermes(["check", ...wrong, "ls"]).status).toBe(2);
  });
});
