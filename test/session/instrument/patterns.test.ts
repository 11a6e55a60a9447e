import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { start } from "hermes-runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findPattern } from "../../../src/binary/code/pattern.js";
import { Elf } from "../../../src/binary/elf/index.js";
import { parseInstructionPattern } from "../../../src/policy/instruction-pattern.js";
import { capture } from "../../support/calls.js";
import { hermes } from "../../support/cli.js";
import { program } from "../../support/programs.js";

const sites = program("sites");
const bare = spawnSync(sites, { encoding: "utf8" }).stdout.trim().split("\n");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-patterns-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WORDS = "ask, definePolicy, deny, emulate, fault, kill, modify";
let files = 0;

/** A policy in a file: those that are made here cannot change the program's code. */
function policyOf(handlers: string): string {
  const file = join(folder, `${files++}.ts`);
  writeFileSync(
    file,
    `import { ${WORDS} } from "hermes-runtime";\nexport default definePolicy({ name: "test", on: {\n${handlers}\n} });\n`,
  );
  return file;
}

async function under(handlers: string, command: readonly string[] = [sites]) {
  const { output, session } = await capture(command, { policy: policyOf(handlers) });
  return { lines: output.trim().split("\n"), session };
}

describe("instructions in code", () => {
  it("are seen, and the program does not notice", async () => {
    const look = `(e) => {
      if (e.registers().rip !== e.address) throw new Error("it is elsewhere");
      if (e.stack(1)[0]?.address !== e.address) throw new Error("its stack begins elsewhere");
    }`;
    const patterns = ["app!cpuid", "app!mov eax, 0x27; syscall", "app!rdrand", "app!rep movsb", "/0f a2/"];
    const { lines, session } = await under(
      patterns.map((key) => `"instruction:${key}": ${look},`).join("\n"),
    );
    expect(lines).toEqual(bare);
    expect(session.problems).toEqual([]);
    expect(session.summary.byCall).toMatchObject({
      cpuid: 3,
      "mov eax, 0x27; syscall": 1,
      rdrand: 1,
      "rep movsb": 1,
    });
    expect(session.summary.byCall["/0f a2/"]).toBeGreaterThan(3); // the loader's too
    expect(session.protections.instructions).toMatchObject({ "mov eax, 0x27; syscall": 1, rdrand: 1 });
  });

  it("are answered: by other values, other registers, or not at all", async () => {
    const { lines } = await under(`
      "instruction:app!cpuid"(e) {
        if (e.leaf === 0) return emulate(0, { registers: { ebx: 0x11111111, ecx: 0x33333333, edx: 0x22222222 } });
        if (e.leaf === 7) return modify({ registers: { ebx: e.cpuid.ebx & ~(1 << 5) } });
      },
      "instruction:app!mov eax, 0x27; syscall": () => emulate(0, { registers: { rax: -1 } }),
      "instruction:app!rdrand": () => emulate(42),
      "instruction:app!rep movsb": (e) => modify({ registers: { rsi: e.registers().rsi + 2n, rcx: 5 } }),`);
    expect(lines).toEqual([
      "maker 111111112222222233333333",
      "avx2 0",
      bare[2],
      "getpid other",
      "random 42 1",
      "text pied",
      "avx2 in child 0",
    ]);
    const denied = await under(`
      "instruction:app!cpuid": () => deny("no features"),
      "instruction:app!rdrand": () => deny("no luck"),
      "instruction:app!rep movsb": () => deny("no copies"),
      "instruction:app!syscall": (e) => fault({ delay: 1 }),`);
    expect(denied.lines).toEqual([
      "maker 000000000000000000000000",
      "avx2 0",
      bare[2],
      "getpid same",
      "random 0 0",
      "text unset",
      "avx2 in child 0",
    ]);
  });

  it("end a program, and wait for a person", async () => {
    const { session } = await under(`"instruction:app!rdrand": () => kill("no luck"),`);
    expect(session.signal).toBe("SIGKILL");
    const asked: string[] = [];
    const policy = policyOf(`"instruction:app!rep movsb": () => ask("may it copy?"),`);
    const run = await start(
      { command: ["sh", "-c", `${sites} > /dev/null`], policy, ask: { patience: 60_000 } },
      {
        question: ({ what }, answer) => {
          asked.push(what);
          setTimeout(() => answer("once"), 10);
        },
      },
    );
    const { exitCode, summary } = await run.result;
    expect(exitCode).toBe(0);
    expect(asked).toEqual([expect.stringMatching(/^execute rep movsb in sites/)]);
    expect(summary.byCall["rep movsb"]).toBe(1);
  });

  it("are missed by no thread", async () => {
    const { lines, session } = await under(`"instruction:app!cpuid": () => undefined,`, [sites, "250"]);
    expect(lines).toEqual(["right"]);
    expect(session.summary.byCall.cpuid).toBe(8 * 251);
  });

  it("are found in a stripped static program", async () => {
    const stripped = join(folder, "stripped");
    copyFileSync(program("sites", "-static"), stripped);
    execFileSync("strip", [stripped]);
    const { lines } = await under(
      `"instruction:app!/0f a2/": (e) => (e.leaf === 0 ? emulate(0, { registers: { ebx: 0, ecx: 0, edx: 0 } }) : undefined),`,
      [stripped],
    );
    expect(lines[0]).toBe("maker 000000000000000000000000");
    expect(lines.slice(1)).toEqual(bare.slice(1));
  });

  it("take features away from unmodified programs", () => {
    const policy = join(folder, "no-avx.yaml");
    writeFileSync(
      policy,
      "name: no-avx\nrules:\n  - { id: no-avx, modify: cpuid, clear: [avx, avx2, aes, rdrand] }\n",
    );
    const script = "/lib64/ld-linux-x86-64.so.2 --help; openssl info -cpusettings";
    const { stdout } = hermes(["run", "-q", "-p", policy, "--", "sh", "-c", script]);
    expect(stdout).toContain("x86-64-v2 (supported, searched)");
    expect(stdout).toMatch(/x86-64-v3\n/);
    const [, features = "0"] = /OPENSSL_ia32cap=(0x[0-9a-f]+)/.exec(stdout) ?? [];
    const hidden = (1n << 25n) | (1n << 28n) | (1n << 30n); // aes, avx, rdrand of leaf 1's ecx
    expect(BigInt(features)).toBeGreaterThan(0n);
    expect((BigInt(features) >> 32n) & hidden).toBe(0n);
  });

  it("are told by decoding: bytes inside of another instruction are none", () => {
    const elf = Elf.open(sites);
    const code = elf.bytes(elf.section(".text")!);
    elf.close();
    const find = (key: string) =>
      findPattern(code, parseInstructionPattern(`instruction:${key}`).code!, () => []).map(
        ({ text }) => text,
      );
    const raw = Buffer.from(code).toString("latin1").split("\x0f\xa2").length - 1;
    expect(find("cpuid").length).toBe(raw - 1);
    expect(find("/0f a2/")).toEqual(find("cpuid"));
    expect(find("mov eax, *; syscall")).toEqual(["mov eax, 0x27"]);
    expect(find("rdrand")).toHaveLength(1);
    expect(find("mov *, 0xf0c70f050fa20f11")).toHaveLength(1);
  });

  it("that do not exist are refused before anything runs", async () => {
    await expect(under(`"instruction:mvo rax, *": () => undefined,`)).rejects.toThrow(
      /no instruction is called "mvo"/,
    );
  });
});
