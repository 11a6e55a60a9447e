import { expect, it } from "vitest";
import { CommandPatternTable } from "../../../../src/intent/guard/command/pattern.js";
import type { Word } from "../../../../src/intent/guard/command/script.js";

const words = (line: string): Word[] =>
  line.split(" ").map((text) => ({ text, span: { start: 0, end: 0 }, glob: false, variables: [], from: [] }));

it("a program's patterns match whenever it is met, each time in the order of the table", () => {
  const table = new CommandPatternTable(
    [
      ["pushes", "git push !--dry-run"],
      ["runs", "docker|podman run --privileged", "git push --force"],
    ] as const,
    () => new Set(),
  );
  const found = (line: string) => {
    const [program = "", ...rest] = line.split(" ");
    return table.match(program, words(rest.join(" "))).map(({ value }) => value);
  };
  for (const _ of [1, 2]) {
    expect(found("git push --force")).toEqual(["pushes", "runs"]);
    expect(found("git push --dry-run")).toEqual([]);
    expect(found("podman run --privileged")).toEqual(["runs"]);
    expect(found("docker run")).toEqual([]);
  }
  expect([table.knows("podman"), table.knows("pod"), table.knows("push")]).toEqual([true, false, false]);
});
