import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Elf } from "../../../src/binary/elf/index.js";
import { HermesError } from "../../../src/nouns/errors.js";
import { program } from "../../support/programs.js";
import { Random } from "../../support/random.js";

/** Reads all there is; a file that is refused is as good as one that is read. */
function readAll(bytes: Uint8Array): "read" | "refused" {
  try {
    const elf = Elf.from(bytes);
    for (const part of [...elf.sections, ...elf.segments]) {
      try {
        elf.bytes(part);
      } catch (error) {
        if (!(error instanceof HermesError)) throw error;
      }
    }
    void [elf.type, elf.entry, elf.soname, elf.needed, elf.interpreter, elf.buildId, elf.notes.length];
    void [elf.relocations.length, elf.plt.length, elf.debugFile];
    for (const symbol of elf.symbols.all().slice(0, 200)) elf.symbols.at(symbol.address + 1);
    elf.symbols.byName("main");
    elf.symbols.matching("*a*");
    elf.bytesAt(elf.entry, 16);
    return "read";
  } catch (error) {
    if (error instanceof HermesError && error.code.startsWith("ELF_")) return "refused";
    throw error;
  }
}

/** Real files, of every shape, with some of their bytes changed: mostly those of tables, where it hurts. */
const seeds = [
  program("symbols"),
  program("symbols", "-static"),
  program("symbols", "-g", "-gz=zlib"),
  program("symbols", "-Wl,-z,pack-relative-relocs"),
].map((path) => readFileSync(path));

function mutated(random: Random): Buffer {
  const bytes = Buffer.from(random.pick(seeds));
  const sections = Number(bytes.readBigUInt64LE(40));
  const places = [() => random.below(64), () => 64 + random.below(56 * 14), () => random.below(bytes.length)];
  places.push(() => sections + random.below(bytes.length - sections));
  for (let i = 1 + random.below(12); i > 0; i--) {
    const at = Math.min(random.pick(places)(), bytes.length - 8);
    const value = random.pick([
      0n,
      1n,
      0x7fn,
      0xffffn,
      0xffffffffn,
      2n ** 53n - 1n,
      2n ** 63n,
      2n ** 64n - 1n,
    ]);
    if (random.below(2) === 0) bytes[at] = random.below(256);
    else bytes.writeBigUInt64LE(value, at - (at % 8));
  }
  return random.below(8) === 0 ? bytes.subarray(0, random.below(bytes.length)) : bytes;
}

describe("the ELF reader", () => {
  it("reads or refuses every broken file, and never fails otherwise", () => {
    const random = new Random(9);
    const outcomes = { read: 0, refused: 0 };
    for (let i = 0; i < 600; i++) outcomes[readAll(mutated(random))] += 1;
    expect(outcomes.read).toBeGreaterThan(100);
    expect(outcomes.refused).toBeGreaterThan(50);
  });
});
