import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Elf } from "../../../src/binary/elf/index.js";
import { DwarfPrototypes, Prototypes } from "../../../src/binary/prototypes/index.js";
import { root } from "../../support/root.js";
import { FakeCall, shown } from "./support.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-dwarf-"));
afterAll(() => rmSync(folder, { recursive: true }));

function compiled(name: string, ...flags: string[]): string {
  const file = join(folder, name);
  execFileSync("gcc", ["-O1", ...flags, "-o", file, join(root, "test/programs/debugged.c")]);
  return file;
}

const DECLARED = {
  paint: "int32_t paint(const char *what, uint32_t colour, uint8_t alpha)",
  middle: "struct point middle(struct point a, struct point b)",
  walk: "int32_t walk(const struct node *list, void (*visit)(), void *arg)",
  complain: "int32_t complain(int32_t level, const char *format, ...)",
  main: "int32_t main(int32_t argc, char **argv)",
};

describe("prototypes out of debug information", () => {
  it.each([["-gdwarf-4"], ["-gdwarf-5"], ["-gdwarf-5", "-gdwarf64"], ["-gdwarf-4", "-gz"], ["-gdwarf-3"]])(
    "are what the source says: %s %s",
    (...flags) => {
      const found = DwarfPrototypes.of(Elf.open(compiled(flags.join(""), ...flags)))!;
      expect(found.problem).toBeUndefined();
      expect(
        Object.fromEntries(Object.keys(DECLARED).map((name) => [name, found.of(name)?.declaration])),
      ).toEqual(DECLARED);
      expect(found.of("half")!.parameters.map(({ type }) => type)).toEqual([
        { kind: "float", size: 4 },
        { kind: "float", size: 16 },
        { kind: "int", size: 8, signed: false },
      ]);
      expect(found.of("nothing")).toBeUndefined();
    },
  );

  it("decode calls: enums by name, structs with their fields", () => {
    const elf = Elf.open(compiled("decode", "-g"));
    const prototypes = new Prototypes();
    const of = prototypes.of.bind(prototypes);
    prototypes.of = (module, symbol) => of(module, symbol, elf);
    const call = new FakeCall().with("wall", 6, 255);
    expect(shown("app!paint", call, undefined, prototypes).args).toEqual({
      what: "wall",
      colour: "BLUE",
      alpha: 255,
    });
    const node = Buffer.alloc(32);
    const list = new FakeCall();
    node.writeBigUInt64LE(list.put("first"), 0);
    node.writeInt32LE(7, 16);
    node.writeInt32LE(5, 28);
    expect(shown("app!walk", list.with(node, 0x1234, 0), undefined, prototypes).args).toEqual({
      list: { name: "first", next: null, values: [7, 0, 0], colour: "GREEN" },
      visit: "0x1234",
      arg: null,
    });
  });

  it("are found in a separate debug file", () => {
    const file = compiled("apart", "-g");
    execFileSync("objcopy", ["--only-keep-debug", file, `${file}.debug`]);
    execFileSync("strip", [file]);
    execFileSync("objcopy", [`--add-gnu-debuglink=${file}.debug`, file]);
    expect(DwarfPrototypes.of(Elf.open(file))!.of("paint")!.declaration).toBe(DECLARED.paint);
    expect(DwarfPrototypes.of(Elf.open("/bin/true"))).toBeUndefined();
  });

  it("are refused, not obeyed, when they are garbage", () => {
    const whole = readFileSync(compiled("garbage", "-gdwarf-5", "-nostdlib", "-c"));
    const sections = Elf.from(whole).sections.filter(({ name }) =>
      /^\.debug_(info|abbrev|str|line_str)$/.test(name),
    );
    let seed = 11;
    const random = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff);
    let survived = 0;
    for (let i = 0; i < 400; i++) {
      const broken = Buffer.from(whole);
      for (let k = 0; k < 1 + (i % 8); k++) {
        const { offset, size } = sections[random() % sections.length]!;
        broken[offset + (random() % size)] = random() & 0xff;
      }
      const found = DwarfPrototypes.of(Elf.from(broken));
      for (const name of found?.names() ?? []) if (found!.of(name)) survived++;
    }
    expect(survived).toBeGreaterThan(0);
  });
});
