import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseMaps } from "../../../src/kernel/process/maps.js";
import { groupMappings, modulesOf } from "../../../src/kernel/process/modules.js";
import { readText } from "../../../src/kernel/process/proc.js";
import { until } from "../../support/until.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-modules-"));
const program = join(folder, "sleeper");
let child: ChildProcess;

beforeAll(async () => {
  copyFileSync("/usr/bin/sleep", program);
  child = spawn(program, ["1000"], { stdio: "ignore" });
  await until(
    () => /libc\.so/.test(readText(`/proc/${child.pid}/maps`)) && sleeps(child.pid!),
    "the program to sleep, with all its libraries loaded",
  );
});

afterAll(() => {
  child.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

/** In clock_nanosleep: everything is loaded. */
const sleeps = (pid: number) => readText(`/proc/${pid}/syscall`).startsWith("230 ");

describe("the modules of a process", () => {
  it("are the program, its libraries, the loader and the vDSO, with the bias that symbols need", () => {
    const modules = modulesOf(child.pid!);
    expect(modules.main?.path).toBe(program);
    expect([...modules].map(({ name }) => name)).toEqual(
      expect.arrayContaining(["sleeper", "libc.so.6", "ld-linux-x86-64.so.2", "[vdso]"]),
    );
    const libc = modules.all.find(({ name }) => name === "libc.so.6")!;
    const [nanosleep] = libc.elf()!.symbols.byName("clock_nanosleep");
    const rip = Number.parseInt(/0x\w+\s*$/.exec(readText(`/proc/${child.pid}/syscall`))![0], 16);
    expect(rip - libc.bias!).toBeGreaterThan(nanosleep!.address);
    expect(rip - libc.bias!).toBeLessThan(nanosleep!.address + nanosleep!.size);
    expect(modules.at(rip)).toBe(libc);
    expect(modules.isCode(rip)).toBe(true);
    expect(modules.isCode(modules.maps.find(({ path }) => path === "[stack]")!.from)).toBe(false);
    const vdso = modules.all.find(({ isVdso }) => isVdso)!;
    expect(vdso.elf()!.symbols.byName("__vdso_clock_gettime")).toHaveLength(1);
    expect(vdso.bias).toBe(vdso.from);
  });

  it("are read from what is mapped, also when the file was deleted", () => {
    const before = modulesOf(child.pid!).main!;
    unlinkSync(program);
    copyFileSync("/usr/bin/true", program);
    const after = modulesOf(child.pid!).all.find(({ path }) => path === program)!;
    expect(after.elf()!.buildId).toBe(before.elf()!.buildId);
    expect(after.bias).toBe(before.bias);
    expect(after.isMain).toBe(true);
  });

  it("of a process that is gone are none", () => {
    expect(modulesOf(2 ** 22 - 1).all).toEqual([]);
  });
});

describe("mappings", () => {
  it("of one file loaded twice are two modules; data files and memory without a file are none", () => {
    const maps = parseMaps(
      [
        "1000-2000 r--p 00000000 08:01 7 /lib/a.so",
        "2000-3000 r-xp 00001000 08:01 7 /lib/a.so",
        "3000-4000 rw-p 00001000 08:01 7 /lib/a.so",
        "5000-6000 r--p 00000000 08:01 7 /lib/a.so",
        "6000-7000 r-xp 00001000 08:01 7 /lib/a.so",
        "8000-9000 r--p 00000000 08:01 9 /usr/share/a name with spaces",
        "9000-a000 rwxp 00000000 00:00 0 ",
        "7ffff000-80000000 rw-p 00000000 00:00 0                          [stack]",
      ].join("\n"),
    );
    expect(maps).toHaveLength(8);
    expect(maps[5]!.path).toBe("/usr/share/a name with spaces");
    expect(groupMappings(maps).map((group) => [group[0]!.from, group.length])).toEqual([
      [0x1000, 3],
      [0x5000, 2],
    ]);
  });
});
