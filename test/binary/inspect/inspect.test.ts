import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Elf } from "../../../src/binary/elf/index.js";
import { toDot } from "../../../src/binary/inspect/dot.js";
import { flowGraph } from "../../../src/binary/inspect/graph.js";
import { inspect, openElf } from "../../../src/binary/inspect/inspect.js";
import { languagesOf } from "../../../src/binary/inspect/languages.js";
import { layered } from "../../../src/binary/inspect/layout.js";
import type { Inspection } from "../../../src/binary/inspect/report.js";
import { suggestedPolicy } from "../../../src/binary/inspect/suggest.js";
import { toSvg } from "../../../src/binary/inspect/svg.js";
import { HermesError } from "../../../src/nouns/errors.js";
import { loadPolicy } from "../../../src/policy/load.js";
import { hermes } from "../../support/cli.js";
import { program } from "../../support/programs.js";
import { Random } from "../../support/random.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-inspect-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });

const reports = new Map<string, Inspection>();

/** Each file is looked at once; those made here have names of their own. */
function reportOf(path: string): Inspection {
  const known = reports.get(path);
  if (known !== undefined) return known;
  const elf = openElf(path);
  const report = inspect(elf);
  elf.close();
  reports.set(path, report);
  return report;
}

const shapes = reportOf(program("shapes"));

describe("hardening", () => {
  const hardening = (...flags: string[]) => reportOf(program("shapes", ...flags)).hardening;

  it("is what the compiler was asked for", () => {
    expect(
      hardening("-fstack-protector-all", "-Wl,-z,relro,-z,now", "-fcf-protection=full", "-pie"),
    ).toMatchObject({
      pie: true,
      relro: "full",
      canary: true,
      nx: true,
    });
    expect(hardening("-fno-stack-protector", "-Wl,-z,norelro", "-no-pie", "-Wl,-z,execstack")).toMatchObject({
      pie: false,
      relro: "none",
      canary: false,
      nx: false,
    });
    expect(hardening("-Wl,-z,relro,-z,lazy").relro).toBe("partial");
    expect(hardening("-Wl,--disable-new-dtags,-rpath,/opt/x").rpath).toBe("/opt/x");
    expect(hardening("-Wl,--enable-new-dtags,-rpath,$ORIGIN/lib").runpath).toBe("$ORIGIN/lib");
  });

  it("knows checked functions, and marks for CET", () => {
    expect(reportOf("/bin/ls").hardening.fortified).toContain("__printf_chk");
    const source = join(folder, "marked.s");
    writeFileSync(
      source,
      `.globl _start\n_start: endbr64\nud2\n.section .note.gnu.property,"a"\n.align 8\n.long 4,16,5\n.asciz "GNU"\n.long 0xc0000002,4,3,0\n`,
    );
    run("gcc", "-nostdlib", "-static", "-o", join(folder, "marked"), source);
    expect(reportOf(join(folder, "marked")).hardening).toMatchObject({ ibt: true, shadowStack: true });
  });

  it("of a static, stripped program is seen in its code", () => {
    const stripped = join(folder, "static");
    run("strip", "-s", "-o", stripped, program("shapes", "-static"));
    expect(reportOf(stripped)).toMatchObject({ static: true, symbols: "none", hardening: { canary: true } });
  });
});

describe("system calls", () => {
  const at = (report: Inspection, name: string) =>
    report
      .syscalls!.sites.filter((site) => site.function === name)
      .map(({ by, name: call, unproven }) => [by, call ?? unproven]);

  it("are named where the number is proven, through branches, the stack and wrappers", () => {
    expect(at(shapes, "raw_getpid")).toEqual([["syscall", "getpid"]]);
    expect(at(shapes, "raw_joined")).toEqual([["syscall", "getuid"]]);
    expect(at(shapes, "raw_pushed")).toEqual([["syscall", "getppid"]]);
    expect(at(shapes, "through_libc")).toEqual([["syscall()", "gettid"]]);
  });

  it("are unknown where it is not: an argument, or what a call may have changed", () => {
    expect(at(shapes, "raw_any")).toEqual([["syscall", "argument"]]);
    const main = at(shapes, "main");
    expect(main).toContainEqual(["raw_any", "getuid"]);
    expect(main).toContainEqual(["raw_any", "unknown"]);
  });

  it("go through syscall() without a PLT too", () => {
    expect(at(reportOf(program("shapes", "-fno-plt")), "through_libc")).toEqual([["syscall()", "gettid"]]);
  });

  it("of the C library are the ones that its functions are named after", () => {
    const libc = reportOf(run("gcc", "-print-file-name=libc.so.6").trim());
    const { sites } = libc.syscalls!;
    const called = (name: string) =>
      new Set(sites.filter((site) => site.function === name).map((site) => site.name));
    for (const name of ["openat", "mount", "ptrace", "unshare", "setns", "swapon"])
      expect([...called(name)]).toEqual([name]);
    expect(sites.filter(({ number }) => number !== undefined).length).toBeGreaterThan(sites.length * 0.9);
  });
});

describe("what a program could do", () => {
  it("comes with its evidence", () => {
    const evidence = (report: Inspection, id: string) => report.capabilities.find((each) => each.id === id);
    const curl = reportOf("/usr/bin/curl");
    expect(evidence(curl, "connect")).toMatchObject({ by: "program", evidence: [{ kind: "import" }, {}] });
    expect(evidence(curl, "exec")?.by).not.toBe("program");
    const busybox = reportOf("/bin/busybox");
    expect(evidence(busybox, "exec")).toMatchObject({
      by: "program",
      evidence: [{ kind: "call", name: "execve" }],
    });
    expect(evidence(busybox, "mounts")!.notable).toBe(true);
    expect(evidence(shapes, "connect")).toBeUndefined();
    expect(curl.libraries.map(({ name }) => name)).toContain("libssl.so.3");
  });

  it.each(["/usr/bin/curl", "/bin/busybox", "/bin/ls", program("shapes")])(
    "makes a policy that holds: %s",
    async (path) => {
      const file = join(folder, "suggested.yaml");
      const text = suggestedPolicy(reportOf(path));
      writeFileSync(file, text);
      const policy = await loadPolicy(file);
      expect(policy.name).toMatch(/^suggested-/);
      if (path === "/usr/bin/curl") expect(text).not.toMatch(/id: network/);
      if (path.includes("shapes")) expect(text).toMatch(/id: network\n {4}deny/);
    },
  );
});

describe("text of interest", () => {
  it("is found with its place, and keys are not shown whole", () => {
    const source = join(folder, "texts.c");
    const key = `ghp_${"a1B2".repeat(9)}`;
    const texts = [
      "https://example.org/install.sh",
      "/etc/shadow",
      "203.0.113.7:4444",
      key,
      "-----BEGIN RSA PRIVATE KEY-----",
      "1.2.840.113549",
      "%s/.ssh/authorized_keys",
      "cp %s /etc/cron.d/%s.job",
      "~/.config/autostart",
      "%s/%s: %d/%d",
    ];
    writeFileSync(
      source,
      `#include <stdio.h>\nint main(void){${texts.map((text) => `puts(${JSON.stringify(text)});`).join("")}return 0;}\n`,
    );
    run("gcc", "-o", join(folder, "texts"), source);
    const report = reportOf(join(folder, "texts"));
    const found = Object.fromEntries(report.strings.map(({ kind, text }) => [text, kind]));
    expect(found).toMatchObject({
      "https://example.org/install.sh": "url",
      "/etc/shadow": "path",
      "%s/.ssh/authorized_keys": "path",
      "/etc/cron.d/%s.job": "path",
      "~/.config/autostart": "path",
      "203.0.113.7:4444": "address",
      "-----BEGIN RSA PRIVATE KEY-----": "key",
    });
    expect(JSON.stringify(report)).not.toContain(key);
    expect(report.strings.find(({ what }) => what === "a GitHub token")?.text).toBe("ghp_a1B2…");
    expect(Object.keys(found)).not.toContain("1.2.840.113549");
    expect(Object.keys(found).filter((text) => text.includes("%d"))).toEqual([]);
    const { offset } = report.strings.find(({ kind }) => kind === "url")!;
    expect(readFileSync(join(folder, "texts")).subarray(offset).toString("latin1")).toMatch(/^https:/);
    expect(report.capabilities.map(({ id }) => id)).toContain("passwords");
  });
});

describe("what a program was made with", () => {
  it("is told: Go with its version, C++, C", () => {
    const go = reportOf(`${run("go", "env", "GOROOT").trim()}/bin/gofmt`);
    expect(go.languages[0]).toMatchObject({ name: "Go", version: expect.stringMatching(/^1\.\d+/) });
    expect(languagesOf(Elf.open(process.execPath)).map(({ name }) => name)).toContain("C++");
    expect(shapes.languages).toMatchObject([{ name: "C" }]);
  });

  it("is hinted at when it is packed", () => {
    expect(shapes.packing.hints).toEqual([]);
    const bundled = join(folder, "bundled");
    writeFileSync(
      bundled,
      Buffer.concat([readFileSync(program("shapes")), Buffer.from("PK\x03\x04"), Buffer.alloc(4000, "x")]),
    );
    expect(reportOf(bundled).packing.appended).toMatchObject({ size: 4004, kind: "a zip archive" });
    // As UPX leaves a file: no sections, its mark behind the headers, code that is dense.
    const random = new Random(7);
    const bytes = readFileSync(program("shapes", "-static"));
    const text = Elf.from(bytes).section(".text")!;
    for (let i = 0; i < text.size; i++) bytes[text.offset + i] = random.below(256);
    bytes.writeBigUInt64LE(0n, 40);
    bytes.writeUInt16LE(0, 60);
    bytes.write("UPX!", 64 + 56 * bytes.readUInt16LE(56));
    writeFileSync(join(folder, "upx"), bytes);
    const { hints } = reportOf(join(folder, "upx")).packing;
    expect(hints.join("; ")).toMatch(/packed with UPX.*dense.*no section headers/);
  });
});

describe("a picture of control flow", () => {
  const elf = Elf.open(program("shapes"));
  const graph = flowGraph(elf, "loop");

  it("has every block and edge, as DOT, SVG and data", () => {
    const dot = toDot(graph);
    const svg = toSvg(graph);
    const edges = graph.blocks.flatMap((block) => block.edges);
    expect(dot.match(/ -> /g)).toHaveLength(edges.length);
    expect(svg.match(/<rect x=/g)).toHaveLength(graph.blocks.length);
    expect(svg.match(/marker-end/g)).toHaveLength(edges.length);
    expect(svg).not.toMatch(/NaN|Infinity|<script/);
    expect(JSON.stringify(graph)).toContain('"calls":"many"');
    expect(graph.roots).toEqual([graph.function.address]);
  });

  it("puts no box over another, and lets edges run down", () => {
    const boxes = Array.from({ length: 40 }, (_, i) => ({
      width: 40 + (i % 7) * 20,
      height: 20 + (i % 5) * 15,
    }));
    const random = new Random(3);
    const ends = Array.from({ length: 70 }, (): [number, number] => [random.below(40), random.below(40)]);
    const { boxes: places, ways } = layered(boxes, ends);
    expect(ways).toHaveLength(70);
    for (const [i, a] of places.entries())
      for (const [k, b] of places.entries()) {
        if (k <= i) continue;
        const apart =
          a.x + boxes[i]!.width <= b.x ||
          b.x + boxes[k]!.width <= a.x ||
          a.y + boxes[i]!.height <= b.y ||
          b.y + boxes[k]!.height <= a.y;
        expect(apart, `${i} and ${k}`).toBe(true);
      }
  });

  it("is of a function that is there, by name, address or entry", () => {
    expect(flowGraph(elf, `0x${graph.function.address.toString(16)}`).function.name).toBe("loop");
    expect(flowGraph(elf, "entry").function.address).toBe(elf.entry);
    expect(() => flowGraph(elf, "lop")).toThrow("no function lop; --functions lists them");
    expect(() => flowGraph(elf, "raw_")).toThrow("there is raw_getpid");
  });
});

describe("a file that is no program", () => {
  it.each([
    ["", "empty"],
    ["#!/bin/sh -e\necho\n", "a script for /bin/sh: inspect that"],
    ["MZ\x90\0", "a Windows program (PE)"],
    ["\xcf\xfa\xed\xfe\x07\0\0\x01", "a macOS program (Mach-O)"],
    ["\xca\xfe\xba\xbe\0\0\0\x02", "a macOS program for several machines (Mach-O)"],
    ["\xca\xfe\xba\xbe\0\0\0\x34", "a Java class"],
    ["!<arch>\nx", "an archive of object files (ar)"],
    ["PK\x03\x04", "a zip archive"],
    ["hello\n", "text"],
    ["\x01\x02\0", "of no known kind"],
  ])("is told what it is: %j", (bytes, what) => {
    const file = join(folder, "file");
    writeFileSync(file, bytes, "latin1");
    expect(() => openElf(file)).toThrow(`${file}: not an ELF file, but ${what}`);
  });

  it("of another machine is described as far as it goes", () => {
    writeFileSync(join(folder, "i386.s"), ".globl here\nhere: int $0x80\nret\n");
    run("as", "--32", "-o", join(folder, "i386.o"), join(folder, "i386.s"));
    const report = reportOf(join(folder, "i386.o"));
    expect(report).toMatchObject({ machine: "i386", bits: 32, type: "relocatable" });
    expect(report.syscalls).toBeUndefined();
    expect(report.problems).toContain("its code is for i386, and not looked at");
  });

  it("or a broken one is inspected or refused, and nothing else", () => {
    const random = new Random(4);
    const seeds = [program("shapes"), program("symbols"), program("shapes", "-fno-plt")].map((path) =>
      readFileSync(path),
    );
    let inspected = 0;
    for (let i = 0; i < 120; i++) {
      const bytes = Buffer.from(random.pick(seeds));
      for (let k = 1 + random.below(30); k > 0; k--) {
        const at = random.below(random.pick([64, 1024, bytes.length - 8]));
        if (random.below(3) > 0) bytes[at] = random.below(256);
        else
          bytes.writeBigUInt64LE(
            random.pick([0n, 1n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 64n - 1n]),
            at - (at % 8),
          );
      }
      try {
        const elf = Elf.from(bytes);
        const report = inspect(elf);
        suggestedPolicy(report);
        JSON.stringify(report);
        if (elf.isX64) toSvg(flowGraph(elf, "entry"));
        inspected += 1;
      } catch (error) {
        if (!(error instanceof HermesError)) throw error;
      }
    }
    expect(inspected).toBeGreaterThan(20);
  });
});

describe("hermes inspect", () => {
  const inspected = (...args: string[]) => hermes(["inspect", ...args]);

  it("prints, writes pictures and policies, and fails clearly", () => {
    const path = program("shapes");
    const shown = inspected(path);
    expect(shown.stdout).toContain("a program (PIE), x86-64, 64 bit");
    expect(shown.stdout).toMatch(/system calls \(8 sites, 5 proven\)/);
    expect(JSON.parse(inspected("--json", path).stdout)).toMatchObject({
      file: path,
      type: "pie",
      hardening: { nx: true },
    });
    const svg = join(folder, "loop.svg");
    expect(inspected("--cfg", "loop", "--format", "svg", "-o", svg, path).status).toBe(0);
    expect(readFileSync(svg, "utf8")).toMatch(/^<svg /);
    expect(inspected("--functions", path).stdout).toMatch(
      /^0x[0-9a-f]+ +\d+ {2}loop {2}\(symbol, unwind\)$/m,
    );
    const folderGiven = inspected(folder);
    expect([folderGiven.status, folderGiven.stderr]).toEqual([
      1,
      `hermes: cannot read ${folder}: it is a folder\n`,
    ]);
  });
});
