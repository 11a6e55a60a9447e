import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Elf, type ElfSymbol, requireX64 } from "../../../src/binary/elf/index.js";
import { wildcards } from "../../../src/nouns/glob.js";
import { program } from "../../support/programs.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-elf-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { encoding: "utf8", maxBuffer: 1 << 26, stdio: ["ignore", "pipe", "pipe"] });
const LIBC = run("gcc", "-print-file-name=libc.so.6").trim();
const plain = program("symbols");

describe("the symbols of a file", () => {
  it.each([LIBC, "/bin/ls", plain])("are those that nm -D sees, with versions: %s", (path) => {
    const elf = Elf.open(path);
    const dynamic = run("nm", "-D", "--with-symbol-versions", path).trimEnd().split("\n");
    const expected = dynamic.map((line) => /^([0-9a-f]*) +(\S) (.*)$/.exec(line)!.slice(1));
    for (const [address, kind, name] of expected as [string, string, string][]) {
      if (kind === "A") continue; // the names of versions
      const [bare, version] = name.split(/@@?/);
      const found = elf.symbols.byName(bare!).filter((symbol) => symbol.version === version);
      expect(found, name).not.toEqual([]);
      expect(found[0]!.defined).toBe(!/[UwWvV]/.test(kind) || address !== "");
      if (address !== "" && found[0]!.type !== "tls")
        expect(found.map((s) => s.address)).toContain(parseInt(address, 16));
      if (name.includes("@@")) expect(elf.symbols.byName(bare!)[0]!.version).toBe(version);
      if (kind === "i") expect(found[0]!.type).toBe("ifunc");
    }
    elf.close();
  });

  it("of the whole table are those that nm sees, local ones too", () => {
    const elf = Elf.open(plain);
    const names = new Map(elf.symbols.all().map((symbol) => [symbol.name, symbol]));
    expect(names.get("inner")).toMatchObject({ type: "function", binding: "local", exported: false });
    expect(names.get("shared_number")).toMatchObject({ type: "object", size: 4 });
    expect(names.get("chosen")).toMatchObject({ type: "ifunc" });
    expect(names.get("own_number")).toMatchObject({ type: "tls" });
    expect(names.get("strlen")).toMatchObject({ defined: false });
    expect(elf.symbols.matching("*ute?").map(({ name }) => name)).toEqual(["outer"]);
    elf.close();
  });

  it("are found by an address within their size, and nowhere else", () => {
    const elf = Elf.open(LIBC);
    const getenv = elf.symbols.exported("getenv")[0]!;
    expect(elf.symbols.at(getenv.address)!.name).toBe("getenv");
    expect(elf.symbols.at(getenv.address + getenv.size - 1)!.name).toBe("getenv");
    expect(elf.symbols.at(getenv.address + getenv.size)?.name).not.toBe("getenv");
    expect(elf.symbols.at(elf.segments.at(-1)!.address + 2 ** 40)).toBeUndefined();
    const errno = elf.symbols.byName("errno")[0]!;
    expect(elf.symbols.at(errno.address)?.name).not.toBe("errno"); // an offset into thread storage is no address
    elf.close();
  });

  it("of the loader are the same without section headers", () => {
    const bytes = readFileSync(LIBC);
    const whole = Elf.from(bytes);
    const bare = Buffer.from(bytes);
    bare.writeBigUInt64LE(0n, 40);
    const cut = Elf.from(bare);
    expect(cut.sections).toEqual([]);
    for (const name of ["memcpy", "getaddrinfo", "pthread_create", "environ"])
      expect(cut.symbols.exported(name)).toEqual(whole.symbols.exported(name));
    expect(cut.symbols.byName("memcpy").map(({ version }) => version)).toEqual(["GLIBC_2.14", "GLIBC_2.2.5"]);
    expect(cut.symbols.byName("memcpy@GLIBC_2.2.5")).toHaveLength(1);
    expect(cut.buildId).toBe(whole.buildId);
    expect(cut.soname).toBe("libc.so.6");
  });
});

describe("a stripped file", () => {
  const stripped = join(folder, "stripped");
  run("strip", "-s", "-o", stripped, plain);
  const named = (path: string): ElfSymbol | undefined => {
    const elf = Elf.open(path);
    const symbol = elf.symbols.byName("inner")[0];
    elf.close();
    return symbol;
  };
  const truth = named(plain)!;

  it("has no names of its own", () => {
    expect(truth.size).toBeGreaterThan(0);
    expect(named(stripped)).toBeUndefined();
  });

  it.each([["--check=crc64"], ["--check=none", "--lzma2=lc=0,lp=2,pb=0,dict=4KiB"]])(
    "has those in .gnu_debugdata: xz %s %s",
    (...options) => {
      const symbols = join(folder, "only-symbols");
      copyFileSync(plain, symbols);
      run("xz", "-kf", "--format=xz", ...options, symbols);
      const packed = join(folder, "packed");
      run("objcopy", `--add-section=.gnu_debugdata=${symbols}.xz`, stripped, packed);
      expect(named(packed)).toEqual(truth);
    },
  );

  it("ignores a broken .gnu_debugdata", () => {
    writeFileSync(join(folder, "rubbish"), "\xfd7zXZ\0 and then rubbish of some length");
    const packed = join(folder, "rubbish-packed");
    run("objcopy", `--add-section=.gnu_debugdata=${join(folder, "rubbish")}`, stripped, packed);
    expect(named(packed)).toBeUndefined();
  });

  it("has those of the debug file that it links to, if its CRC is right", () => {
    const debug = join(folder, "linked.debug");
    const linked = join(folder, "linked");
    run("objcopy", "--only-keep-debug", plain, debug);
    run("objcopy", `--add-gnu-debuglink=${debug}`, stripped, linked);
    expect(named(linked)).toEqual(truth);
    writeFileSync(debug, "x", { flag: "a" });
    expect(named(linked)).toBeUndefined();
  });
});

describe("places that the loader fills in", () => {
  it.each([LIBC, "/bin/ls"])("are those that readelf sees: %s", (path) => {
    const elf = Elf.open(path);
    const lines = run("readelf", "-rW", path).split("\n");
    const expected = lines
      .map((line) =>
        /^([0-9a-f]{16}) +[0-9a-f]+ (R_X86_64_\S+) +[0-9a-f]{16} ([^ @]+)(?:@@?(\S+))? \+/.exec(line),
      )
      .filter((match) => match !== null)
      .map((match) => ({ address: parseInt(match[1]!, 16), symbol: match[3]!, version: match[4] }));
    expect(expected.length).toBeGreaterThan(5);
    const found = new Map(elf.relocations.map((relocation) => [relocation.address, relocation]));
    for (const { address, symbol, version } of expected) {
      expect(found.get(address)?.symbol).toBe(symbol);
      expect(found.get(address)?.version).toBe(version);
    }
    elf.close();
  });

  it.each([[], ["-fcf-protection=full", "-Wl,-z,ibtplt"], ["-Wl,-z,now"], ["-no-pie"]])(
    "have stubs that objdump names too: %s %s",
    (...flags) => {
      const path = program("symbols", ...flags);
      const elf = Elf.open(path);
      const stub = elf.plt.find(({ symbol }) => symbol === "printf")!;
      const code = run("objdump", "-d", "--no-show-raw-insn", path);
      expect(code).toContain(`${stub.address.toString(16).padStart(16, "0")} <printf@plt>:`);
      elf.close();
    },
  );

  it("through the GOT only, without a PLT", () => {
    const elf = Elf.open(program("symbols", "-fno-plt"));
    expect(elf.relocations.find(({ symbol }) => symbol === "printf")).toMatchObject({ kind: "global" });
    elf.close();
  });
});

describe("a file", () => {
  it("is told apart by what it is", () => {
    const type = (path: string) => Elf.open(path).type;
    expect(type(plain)).toBe("pie");
    expect(type(program("symbols", "-no-pie"))).toBe("executable");
    expect(type(program("symbols", "-static-pie"))).toBe("pie");
    expect(type(LIBC)).toBe("shared");
  });

  it("of another machine is described, and refused by those who read its code", () => {
    const source = join(folder, "i386.s");
    writeFileSync(source, ".globl here\nhere: ret\n");
    run("as", "--32", "-o", join(folder, "i386.o"), source);
    const small = Elf.open(join(folder, "i386.o"));
    expect([small.type, small.machine, small.bits]).toEqual(["relocatable", "i386", 32]);
    expect(small.symbols.byName("here")).toHaveLength(1);
    run("objcopy", "-I", "binary", "-O", "elf64-big", source, join(folder, "big.o"));
    const big = Elf.open(join(folder, "big.o"));
    expect(big.littleEndian).toBe(false);
    expect(big.symbols.matching("*_size")[0]).toMatchObject({ address: 22 });
    expect(() => requireX64(small)).toThrow("its code is for i386 (32 bit); only x86-64");
    expect(() => requireX64(big)).toThrow("big endian");
  });

  it("that is none says so", () => {
    writeFileSync(join(folder, "empty"), "");
    expect(() => Elf.open(join(folder, "empty"))).toThrow("not an ELF file");
    expect(() => Elf.open(folder)).toThrow("it is a folder");
    expect(() => Elf.open(join(folder, "nowhere"))).toThrow("ENOENT");
    expect(() => Elf.from(readFileSync(plain).subarray(0, 60))).toThrow("ends within the header");
  });

  it("gives its bytes by section, by segment and by address, the zeroes of bss included", () => {
    const elf = Elf.open(plain);
    const text = elf.section(".text")!;
    expect(Buffer.from(elf.bytes(text))).toEqual(Buffer.from(elf.bytesAt(text.address, text.size)!));
    const bss = elf.section(".bss")!;
    expect(elf.bytes(bss)).toEqual(new Uint8Array(bss.size));
    expect(elf.bytesAt(bss.address, bss.size)).toEqual(new Uint8Array(bss.size));
    expect(elf.bytesAt(bss.address + bss.size, 4096)).toBeUndefined();
    elf.close();
  });

  it("inflates its compressed sections", () => {
    const packed = Elf.open(program("symbols", "-g", "-gz=zlib"));
    const open = Elf.open(program("symbols", "-g", "-gz=none"));
    const lengths = [packed, open].map((elf) => elf.bytes(elf.section(".debug_info")!).length);
    expect(lengths[0]).toBe(lengths[1]);
  });
});

describe("a pattern for names", () => {
  it("knows * and ?", () => {
    expect(wildcards("SSL_*write*")("SSL_write_ex")).toBe(true);
    expect(wildcards("get?")("get")).toBe(false);
    expect(wildcards("*")("")).toBe(true);
    expect(wildcards("*a*a*a*b")("a".repeat(50_000))).toBe(false);
  });
});
