import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Elf } from "../../../src/binary/elf/index.js";
import { basicBlocks } from "../../../src/binary/inspect/blocks.js";
import { controlFlow } from "../../../src/binary/inspect/cfg.js";
import { MachineCode } from "../../../src/binary/inspect/code.js";
import { recoverFunctions } from "../../../src/binary/inspect/functions.js";
import { program } from "../../support/programs.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-inspect-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });

/** Where objdump sees instructions begin. */
function boundaries(path: string): Set<number> {
  const lines = run("objdump", "-d", "--no-show-raw-insn", path).matchAll(/^ +([0-9a-f]+):\t/gm);
  return new Set(Array.from(lines, ([, address]) => Number.parseInt(address!, 16)));
}

const NAMES = ["many", "loop", "hidden", "raw_getpid", "raw_any", "ending", "main"];

function functionsOf(path: string) {
  const elf = Elf.open(path);
  const code = new MachineCode(elf);
  return { elf, code, functions: recoverFunctions(elf, code) };
}

describe("functions", () => {
  it.each([
    [["-fcf-protection=none"]],
    [["-fcf-protection=full"]],
    [["-O0"]],
    [["-no-pie"]],
    [["-fno-asynchronous-unwind-tables", "-fcf-protection=none"]],
  ])("are found in a stripped program: %s", (flags) => {
    const path = program("shapes", ...flags);
    const truth = Elf.open(path);
    const stripped = join(folder, "stripped");
    run("strip", "-s", "-o", stripped, path);
    const { functions } = functionsOf(stripped);
    const described = !flags.includes("-fno-asynchronous-unwind-tables");
    for (const name of NAMES) {
      const symbol = truth.symbols.byName(name)[0]!;
      const found = functions.list.find(({ address }) => address === symbol.address);
      expect(found, name).toBeDefined();
      expect(found!.name).toBeUndefined();
      if (!described) continue; // then only the beginnings are known
      expect(Math.abs(found!.size - symbol.size), name).toBeLessThan(16);
      expect(functions.at(symbol.address + symbol.size - 1)).toBe(found);
    }
  });

  it("are found in a stripped Go program, with their names", () => {
    const { functions } = functionsOf(`${run("go", "env", "GOROOT").trim()}/bin/gofmt`);
    expect(functions.list.find(({ name }) => name === "main.main")?.from).toContain("go");
  });
});

describe("basic blocks", () => {
  it.each(["/bin/ls", "/bin/bash", program("shapes", "-static")])(
    "begin and end where instructions do: %s",
    (path) => {
      const elf = Elf.open(path);
      const known = boundaries(path);
      const blocks = basicBlocks(elf);
      expect(blocks.length).toBeGreaterThan(500);
      const wrong = blocks.filter(({ start }) => !known.has(start));
      expect(wrong.map(({ start }) => start.toString(16))).toEqual([]);
      const overlapping = blocks
        .slice(1)
        .filter((block, i) => blocks[i]!.start + blocks[i]!.size > block.start);
      expect(overlapping).toEqual([]);
      elf.close();
    },
  );

  it("of a range are those that begin in it", () => {
    const elf = Elf.open("/bin/ls");
    const { address: from, size } = elf.section(".text")!;
    const some = basicBlocks(elf, { from, to: from + size / 2 });
    expect(some.length).toBeGreaterThan(100);
    expect(some).toEqual(basicBlocks(elf).filter(({ start }) => start >= from && start < from + size / 2));
  });
});

describe("control flow", () => {
  it.each([[["-fPIE"]], [["-no-pie", "-fno-pie"]], [["-fPIE", "-fcf-protection=full"]]])(
    "follows the table of a switch: %s",
    (flags) => {
      const { elf, code, functions } = functionsOf(program("shapes", ...flags));
      const flow = (name: string) =>
        controlFlow(elf, code, functions, functions.list.find((each) => each.name === name)!);
      const many = flow("many");
      expect(many.complete).toBe(true);
      expect(many.tables).toHaveLength(1);
      expect(many.tables[0]!.targets).toHaveLength(7);
      const loop = flow("loop");
      const backward = [...loop.blocks.values()].filter(({ start, edges }) =>
        edges.some(({ to }) => to <= start),
      );
      expect(backward.length).toBeGreaterThan(0);
      const called = [...loop.blocks.values()].flatMap(({ calls }) =>
        calls.map(({ to }) => functions.at(to!)?.name),
      );
      expect(called).toEqual(["many"]);
    },
  );
});
