import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CallEvent, definePolicy, type Policy, type PolicySpec } from "hermes-runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadPolicy } from "../../../src/policy/load.js";
import { capture } from "../../support/calls.js";
import { hermes } from "../../support/cli.js";
import { program } from "../../support/programs.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-inside-"));
const path = (name: string) => join(folder, name);
let command: string[];

/** Two libraries that are alike but for their names: the second is loaded where the first was. */
beforeAll(() => {
  for (const name of ["foo", "bar"]) {
    writeFileSync(
      path(`${name}.c`),
      `#include <unistd.h>
      #include <sys/syscall.h>
      __attribute__((noinline)) static int ${name}_inner(const char *t) { return (int)syscall(SYS_getppid, t) + 1; }
      int act(const char *t) { return ${name}_inner(t) + 1; }`,
    );
    const to = path(`lib${name}.so.1`);
    execFileSync("gcc", ["-O2", "-shared", "-fPIC", "-o", to, path(`${name}.c`)]);
  }
  command = [program("inside"), path("libfoo.so.1"), path("libbar.so.1")];
});
afterAll(() => rmSync(folder, { recursive: true }));

const seenBy = async (spec: Omit<PolicySpec, "name">, more: Policy[] = []) =>
  capture(command, { policy: [definePolicy({ name: "test", ...spec }), ...more] });
const file = (name: string, text: string) => {
  writeFileSync(path(name), text);
  return path(name);
};

describe("on an event", () => {
  it("the stack names libraries that come and go, never the one that was there before", async () => {
    const stacks: string[][] = [];
    const see = (e: CallEvent) =>
      void stacks.push([...e.stack()].map((f) => String(f).replace(/\+0x.*/, "")));
    await seenBy({ inside: true, actions: ["allow"], on: { getppid: see } });
    const start = ["libc!__libc_start_call_main", "libc!__libc_start_main", "inside!_start"];
    const main = stacks[0]![1]!.replace("!main", "");
    const named = (frames: string[]) => frames.map((frame) => frame.replace(`${main}!`, "inside!"));
    expect(stacks.map(named)).toEqual([
      ["libc!syscall", "inside!main", ...start],
      ["libc!syscall", "libfoo!foo_inner", "libfoo!act", "inside!use", "inside!main", ...start],
      ["libc!syscall", "libbar!bar_inner", "libbar!act", "inside!use", "inside!main", ...start],
    ]);
  });

  it("a policy that does not say that it looks inside sees the same, at the trace door", async () => {
    const modules: (string | undefined)[] = [];
    await seenBy({ on: { getppid: (e) => void modules.push(e.stack()[1]!.module) } });
    expect(modules.slice(1)).toEqual(["libfoo", "libbar"]);
  });

  it("registers, maps, memory and time are those of the thread", async () => {
    const seen: unknown[] = [];
    const { output } = await seenBy({
      inside: true,
      actions: ["allow"],
      on: {
        getppid(e) {
          if (seen.length > 0) return;
          const { rdi, rsi, rip, rsp, orig_rax } = e.registers();
          const at = (address: bigint) => e.maps().find(({ from, to }) => from <= address && address < to);
          const found = e.memory.scan("needle in the heap", { region: "[heap]" });
          seen.push(orig_rax, rdi === e.argument(0), e.elapsed, e.stack()[0]!.address === rip);
          seen.push(at(rsp)?.path, at(rip)?.permissions, e.memory.text(rdi), String(e.memory.read(rsi, 6)));
          seen.push(found.includes(rsi), found.length, e.memory(rsi, 6)?.length, e.memory.read(8n, 4));
          seen.push(
            e.stack(2).length,
            e.stack(2).end,
            e.stack().end,
            e.memory.scan("needle in the hay").length,
          );
          e.memory.write(rdi, "now");
          e.memory.write(rsi, Buffer.from("NEEDLE"));
          expect(() => e.memory.write(8n, "x")).toThrow("cannot be written");
          expect(() => e.memory.scan("")).toThrow("a pattern takes 1 to");
        },
      },
    });
    expect(seen.slice(0, 4)).toEqual([110n, true, 0, true]);
    expect(seen.slice(4, 8)).toEqual(["[stack]", "r-xp", "only to be read", "needle"]);
    expect(seen.slice(8, 12)).toEqual([true, 1, 6, undefined]);
    expect(seen.slice(12)).toEqual([2, "limit", "start", 0]);
    expect(output).toBe("nowy to be read, NEEDLE in the heap, 1\n");
  });

  it("that is the call of a function, the stack begins with it; on its return with who called it", () => {
    const policy = file(
      "functions.ts",
      `import { writeSync } from "node:fs";
      import { definePolicy, type FunctionEvent } from "hermes-runtime";
      const see = (e: FunctionEvent) =>
        void writeSync(2, [e.kind, ...e.stack(2).map(({ symbol }) => symbol)].join(" ") + "\\n");
      export default definePolicy({ name: "f", on: { "libc!dlopen": see }, returns: { "libc!dlopen": see } });`,
    );
    const { stderr } = hermes(["run", "-q", "-p", policy, "--", ...command]);
    expect(stderr.split("\n").slice(0, 2)).toEqual(["function dlopen use", "function-return use main"]);
  });

  it("at the notify door asking for the stack is an error, and the call is denied", async () => {
    const { output, session } = await seenBy({
      actions: ["deny"],
      on: { getppid: (e) => void e.registers() },
    });
    expect(output).toContain(", 0\n");
    expect(session.problems.join()).toMatch(
      /registers\(\) of getppid: only the trace door can read it.*`inside: true`/,
    );
  });
});

describe("rules on stacks", () => {
  const rules = {
    "stack: libfoo": ["allow", "deny", "allow"],
    'stack: ["libbar!bar_*", "libnone"]': ["allow", "allow", "deny"],
    'stack: ["app!use", "!libfoo"]': ["allow", "allow", "deny"],
    "caller: libfoo.so.1": ["allow", "deny", "allow"],
    'caller: "app!*"': ["deny", "allow", "allow"],
    'stack: "app!main"': ["deny", "deny", "deny"],
    "stack: libm": ["allow", "allow", "allow"],
  };
  const denying = (rule: string, i = 0) =>
    file(
      `stack${i}.yaml`,
      `name: stack\nrules:\n  - { id: r, deny: getppid, errno: EPERM, ${rule}, reason: no }\n`,
    );

  it("match modules and functions on the stack, or only who made the call", async () => {
    const loaded = await Promise.all(Object.keys(rules).map((rule, i) => loadPolicy(denying(rule, i))));
    const answers: string[][] = [];
    await seenBy({
      inside: true,
      actions: ["allow"],
      on: { getppid: (e) => void answers.push(loaded.map((policy) => policy.decide(e)?.action ?? "allow")) },
    });
    expect(answers).toHaveLength(3);
    for (const [i, [rule, expected]] of Object.entries(rules).entries())
      expect(
        answers.map((answer) => answer[i]),
        rule,
      ).toEqual(expected);
  });

  it("take the trace door by themselves, and are enforced", () => {
    const { status, stdout, stderr } = hermes(["run", "-p", denying("stack: inside*"), "--", ...command]);
    expect([status, stdout]).toEqual([0, expect.stringContaining(", 0\n")]);
    expect(stderr).toMatch(/getppid/);
    const refused = hermes(["run", "--door", "notify", "-p", path("stack0.yaml"), "--", "true"]);
    expect([refused.status, refused.stderr]).toEqual([
      125,
      expect.stringContaining("the stack or the registers"),
    ]);
  });

  it("in Lua: frames, registers and memory", async () => {
    const lua = file(
      "stack.lua",
      `hermes.on("getppid", { actions = { "deny" } }, function(e)
        local stack = e.stack()
        assert(stack.reason == "start" and e.door == "trace")
        assert(stack[1].text:find("libc!syscall", 1, true) and stack[1].address == e.registers().rip)
        if stack[2].main then assert(e.memory.text(e.registers().rdi) == "only to be read") end
        if stack[2].module == "libfoo" then return hermes.deny("not from there", "EPERM") end
      end)`,
    );
    const { status, stderr } = hermes(["run", "--json", "-p", lua, "--", ...command]);
    expect(status).toBe(0);
    expect(JSON.parse(stderr)).toMatchObject({ problems: [], summary: { byAction: { deny: 1 } } });
  });

  it("a broken pattern is told with its line", () => {
    const broken = file("broken.yaml", "name: b\nrules:\n  - { id: r, deny: connect, stack: a b }\n");
    const { status, stderr } = hermes(["policy", "check", broken]);
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/broken\.yaml:3:\d+: .*"a b" does not name code/);
  });
});
