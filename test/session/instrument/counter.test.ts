import { spawnSync } from "node:child_process";
import { definePolicy, deny, emulate, fault, type InstructionEvent, modify } from "hermes-runtime";
import { describe, expect, it } from "vitest";
import { capture } from "../../support/calls.js";
import { program } from "../../support/programs.js";

const counter = program("counter");
const lines = (text: string) => text.trim().split("\n");
const isReading = (line: string) => /^[a-z]+ [0-9a-f]{6,}( aux set)?$/.test(line);
const both = (handler: (e: InstructionEvent) => ReturnType<typeof emulate> | undefined) => ({
  "instruction:rdtsc": handler,
  "instruction:rdtscp": handler,
});

describe("the time stamp counter", () => {
  const bare = lines(spawnSync(counter, { encoding: "utf8" }).stdout);

  it("is what the policy says, in threads, children and new programs", async () => {
    const seen: string[] = [];
    const policy = definePolicy({
      name: "test",
      on: both((e) => {
        seen.push(e.name);
        return emulate(0x1234_5678_9abcn);
      }),
    });
    const { output, session } = await capture([counter], { policy });
    const read = lines(output).filter((line) => line.includes("123456789abc"));
    expect(read).toEqual([
      "main 123456789abc",
      "rdtscp 123456789abc aux set",
      "prefixed 123456789abc",
      "thread 123456789abc",
      "child 123456789abc",
      "again 123456789abc",
      "exec 123456789abc",
    ]);
    expect(seen.filter((name) => name === "rdtscp")).toHaveLength(1);
    expect(session.summary.byAction.emulate).toBeGreaterThan(read.length - 1);
    expect(session.summary.byCall.rdtsc).toBe(seen.length - 1);
  });

  it("leaves a program's own faults, signals and settings as they are without us", async () => {
    const values: bigint[] = [];
    const policy = definePolicy({
      name: "test",
      on: both((e) => {
        values.push(e.value!);
        return undefined;
      }),
    });
    const { output, session } = await capture([counter], { policy });
    const told = lines(output);
    expect(bare).toContain("general fault 128 at (nil)");
    expect(bare).toContain("refused faults 128");
    expect(told.filter((line) => !isReading(line))).toEqual(bare.filter((line) => !isReading(line)));
    expect(told.length).toBe(bare.length);
    expect(session.exitCode).toBe(0);
    expect(values.every((value, i) => i === 0 || value > values[i - 1]!)).toBe(true);
  });

  it("can be changed, refused, delayed, and end a program", async () => {
    const once = async (verdict: (e: InstructionEvent) => ReturnType<typeof emulate>) => {
      const { output, session } = await capture([counter, "x"], {
        policy: definePolicy({ name: "test", on: { "instruction:rdtsc": verdict } }),
      });
      return { line: lines(output)[0], ...session };
    };
    expect((await once((e) => modify({ result: e.value! | 1n | (1n << 40n) }))).line).toMatch(
      /^x [0-9a-f]+[13579bdf]$/,
    );
    expect((await once(() => modify({ registers: { eax: 7, edx: 0 } }))).line).toBe("x 7");
    expect((await once(() => deny("no clocks"))).line).toBe("x 0");
    expect((await once(() => fault({ delay: 1 }))).line).toMatch(/^x [0-9a-f]{6,}$/);
    expect((await once(() => fault({ signal: "SIGUSR1" }))).signal).toBe("SIGUSR1");
    const impossible = await once(() => fault({ errno: "EIO" }));
    expect(impossible.line).toBe("x 0");
    expect(impossible.problems.join()).toContain("an instruction has no errno");
  });

  it("is refused where the trace door is", async () => {
    const policy = definePolicy({ name: "test", on: { "instruction:rdtsc": () => emulate(1) } });
    await expect(capture([counter, "x"], { policy, door: "notify" })).rejects.toThrow(/time stamp counter/);
  });
});
