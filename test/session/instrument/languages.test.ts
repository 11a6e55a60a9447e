import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePolicy } from "hermes-runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { InstructionEvent } from "../../../src/nouns/event.js";
import { loadPolicy } from "../../../src/policy/load.js";
import type { Policy } from "../../../src/policy/policy.js";
import { hermes } from "../../support/cli.js";
import { program } from "../../support/programs.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-instructions-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const load = (name: string, text: string): Promise<Policy> => {
  writeFileSync(join(folder, name), text);
  return loadPolicy(join(folder, name));
};
const rules = (text: string) => load("rules.yaml", `name: rules\nrules:\n${text}`);
const CPUID = { eax: 1, ebx: 0xffff_ffff, ecx: 0xffff_ffff, edx: 2 };
const event = (more: Partial<InstructionEvent>) =>
  ({
    kind: "instruction",
    name: "cpuid",
    leaf: 7,
    subleaf: 0,
    cpuid: CPUID,
    value: 5n,
    ...more,
  }) as InstructionEvent;
const decide = (policy: Policy, more: Partial<InstructionEvent>, index = 0) =>
  policy.decideInstruction!(event(more), policy.subscription.instructions![index]!);

describe("instructions in policies", () => {
  it("are answered by rules in YAML and by handlers in Lua", () => {
    const answers = [
      ["a.yaml", "name: a\nrules:\n  - { id: tsc, emulate: rdtsc, value: 0x1234 }\n"],
      [
        "a.lua",
        'hermes.on("instruction:rdtsc", function(e) return hermes.emulate((e.value & 0) + 0x77) end)\n',
      ],
    ].map(([name, text]) => {
      writeFileSync(join(folder, name!), text!);
      return hermes(["run", "-q", "-p", join(folder, name!), "--", program("counter"), "x"]).stdout;
    });
    expect(answers).toEqual(["x 1234\n", "x 77\n"]);
  });

  it("are told apart by leaf, and features are taken away by name", async () => {
    const policy = await rules(`
  - id: no-avx
    modify: cpuid
    clear: [avx2, avx512f, rdrand]
    examples: { match: [{ instruction: cpuid, leaf: 7 }], not_match: [{ instruction: rdtsc }] }
`);
    expect(decide(policy, {})).toMatchObject({
      action: "modify",
      rule: "no-avx",
      change: { registers: { ebx: 0xfffe_ffdf } },
    });
    expect(decide(policy, { leaf: 1 })?.change).toEqual({ registers: { ecx: 0xbfff_ffff } });
    expect(decide(policy, { leaf: 0 })).toBeUndefined();
    expect(decide(policy, { subleaf: 1 })).toBeUndefined();
    const bits = await rules("  - { id: a, modify: cpuid, leaf: 7, clear: { ebx: [avx2, 0] } }");
    expect(decide(bits, {})?.change).toEqual({ registers: { ebx: 0xffff_ffde } });
    expect(decide(bits, { leaf: 1 })).toBeUndefined();
  });

  it("take the first rule that holds, and patterns of text, bytes and modules", async () => {
    const policy = await rules(`
  - { id: one, emulate: cpuid, leaf: [0, 0x80000000], registers: { eax: 0 } }
  - { id: two, deny: [cpuid, "instruction:libc!int 0x80", "instruction:/0f 05 ?? c3/"] }
  - { id: three, fault: "instruction:mov rax, *; syscall", delay: 20ms }
`);
    expect(policy.subscription.instructions).toMatchObject([
      { name: "cpuid", code: { by: "text" } },
      { name: "int 0x80", module: "libc" },
      { name: "/0f 05 ?? c3/", code: { bytes: [0x0f, 5, undefined, 0xc3] } },
      { code: { steps: [{ mnemonic: "mov", glob: "mov rax, *" }, { mnemonic: "syscall" }] } },
    ]);
    expect(decide(policy, { leaf: 0 })).toMatchObject({ rule: "one", emulation: { registers: { eax: 0n } } });
    expect(decide(policy, {})).toMatchObject({ rule: "two", action: "deny" });
    expect(decide(policy, {}, 3)).toMatchObject({ action: "fault", fault: { delay: 20 } });
    expect(policy.lint!()).toEqual([]);
  });

  it("are seen by Lua with all that is known of them", async () => {
    const policy = await load(
      "b.lua",
      `hermes.on("instruction:cpuid", function(e)
  if e.leaf == 7 and e.subleaf == 0 then return hermes.set_registers{ ebx = e.cpuid.ebx & ~(1 << 5) } end
  if e.leaf == 1 then return hermes.skip{ eax = 0 } end
end)`,
    );
    expect(decide(policy, {})?.change).toEqual({ registers: { ebx: 0xffff_ffdfn } });
    expect(decide(policy, { leaf: 1 })?.emulation).toMatchObject({ registers: { eax: 0n } });
    expect(decide(policy, { leaf: 2 })).toBeUndefined();
  });

  it.each([
    ["{ id: a, emulate: rdtsc, value: soon }", /"soon" is not a whole number/],
    ["{ id: a, modify: cpuid, clear: [avx22] }", /unknown feature "avx22": did you mean avx2\?/],
    ["{ id: a, modify: rdtsc, clear: [avx2] }", /only cpuid has a `clear`/],
    ["{ id: a, modify: cpuid, clear: { ebx: 5 } }", /add the `leaf`/],
    ["{ id: a, deny: cpuid, path: /etc/passwd }", /`path` cannot be used in a rule on instructions/],
    ["{ id: a, redirect: cpuid, to: /x }", /cannot be used in a rule on instructions/],
    ["{ id: a, deny: [cpuid, openat] }", /"openat" is not an instruction/],
    ["{ id: a, emulate: rdtsc, value: 1, delay: 5 }", /`delay` does not go with `emulate`/],
    ['{ id: a, deny: "instruction:libc!rdtsc" }', /seen in all code/],
    ['{ id: a, deny: "instruction:/zz/" }', /bytes are written as/],
    ["{ id: a, emulate: cpuid, registers: { eex: 1 } }", /unknown register "eex"/],
    [
      "{ id: a, deny: cpuid, leaf: 1, examples: { match: [{ instruction: cpuid, leaf: 2 }] } }",
      /does not match its example: leaf/,
    ],
  ])("say what is wrong: %s", async (rule, message) => {
    await expect(rules(`  - ${rule}`)).rejects.toThrow(message);
    await expect(rules(`  - ${rule}`)).rejects.toThrow(/rules\.yaml:3/);
  });

  it("say what is wrong in TypeScript", () => {
    const named = (key: string) => () => definePolicy({ name: "t", on: { [key]: () => undefined } });
    expect(named("instruction:")).toThrow(/names no instruction/);
    expect(named("instruction:%%%")).toThrow(/is not an instruction/);
    expect(() =>
      definePolicy({ name: "t", returns: { "instruction:cpuid": () => undefined } as never }),
    ).toThrow(/has no return/);
    expect(() => definePolicy({ name: "t", on: { openat: () => undefined }, only: { time: {} } })).toThrow(
      /no handler subscribes to time/,
    );
  });
});
