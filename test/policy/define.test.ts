import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePolicy, deny, type PolicySpec } from "hermes-runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { syscallByName } from "../../src/abi/index.js";
import { loadPolicy } from "../../src/policy/load.js";
import { type Call, makeCalls } from "../support/calls.js";

const broken = (spec: unknown) => () => definePolicy(spec as PolicySpec);

describe("definePolicy", () => {
  it("subscribes to exactly the calls that have handlers", () => {
    const { calls } = definePolicy({
      name: "p",
      on: { openat() {}, connect() {} },
      returns: { read() {} },
    }).subscription;
    expect([...calls.keys()].sort((a, b) => a - b)).toEqual([0, 42, 257]);
    expect(calls.get(0)).toMatchObject({ entry: false, returns: true });
  });

  it("takes classes and every call at once", () => {
    expect(
      definePolicy({ name: "p", on: { "%network"() {} } }).subscription.calls.has(
        syscallByName("sendmmsg").nr,
      ),
    ).toBe(true);
    expect(definePolicy({ name: "p", on: { "*"() {} } }).subscription.calls.size).toBeGreaterThan(350);
  });

  it("refuses what it does not understand, and says what was probably meant", () => {
    expect(broken({})).toThrow(/needs an object with a name/);
    expect(broken({ name: "p", on: { opennat() {} } })).toThrow(
      /unknown system call "opennat": did you mean "openat"\?/,
    );
    expect(broken({ name: "p", on: { "%netwrok"() {} } })).toThrow(
      /unknown class "%netwrok": did you mean "network"\?/,
    );
    expect(broken({ name: "p", on: { openat: true } })).toThrow(/on\.openat is not a function/);
    expect(broken({ name: "p", actions: ["dney"] })).toThrow(/unknown action "dney": did you mean "deny"\?/);
    expect(broken({ name: "p", rules: [{ id: "r", deny: "socket", where: { famly: 2 } }] })).toThrow(
      /socket has no argument "famly": did you mean "family"\?/,
    );
    expect(broken({ name: "p", rules: [{ id: "r", deny: "socket", where: { family: "AF_NOPE" } }] })).toThrow(
      /AF_NOPE/,
    );
    expect(broken({ name: "p", rules: [{ id: "r", deny: "socket", errno: "EWHAT" }] })).toThrow(
      /unknown errno/,
    );
    expect(broken({ name: "p", rules: [{ id: "r" }] })).toThrow(/either deny or kill/);
  });

  it("takes the strictest of its own handlers", async () => {
    const policy = definePolicy({
      name: "p",
      on: { "%system"() {}, uname: () => deny("named", "EPERM"), "*": () => undefined },
    });
    const { outcomes } = await makeCalls([["uname", "o:390"]], policy);
    expect(outcomes[0]!.errno).toBe("EPERM");
  });
});

describe("a rule on constant arguments", () => {
  const rules = definePolicy({
    name: "constants",
    rules: [
      { id: "no-inet", deny: "socket", where: { family: "AF_INET" }, errno: "EAFNOSUPPORT" },
      { id: "no-wx", deny: "mmap", where: { prot: { all: "PROT_WRITE|PROT_EXEC" } }, errno: "EPERM" },
      { id: "no-big-seek", deny: "lseek", where: { offset: { gt: 4_294_967_296 } }, errno: "EFBIG" },
    ],
  });
  const calls: Call[] = [
    ["socket", 2, 1, 0],
    ["socket", 1, 1, 0],
    ["socket", "0x700000002", 1, 0],
    ["mmap", 0, 4096, 7, 0x22, -1, 0],
    ["mmap", 0, 4096, 3, 0x22, -1, 0],
    ["lseek", 0, "0x200000000", 0],
  ];

  it("is decided in the kernel: nothing stops, and garbage above an int argument does not help", async () => {
    const { outcomes, session } = await makeCalls(calls, rules);
    expect(outcomes.map((o) => o.errno)).toEqual([
      "EAFNOSUPPORT",
      undefined,
      "EAFNOSUPPORT",
      "EPERM",
      undefined,
      "EFBIG",
    ]);
    for (const [name] of calls) expect(session.summary.byCall).not.toHaveProperty(name as string);
    expect(session.protections).toMatchObject({ constantRules: 3 });
  });

  it("goes before a handler that would allow", async () => {
    const loose = definePolicy({ name: "loose", on: { socket() {} } });
    const { outcomes } = await makeCalls(calls.slice(0, 2), [loose, rules]);
    expect(outcomes.map((o) => o.errno)).toEqual(["EAFNOSUPPORT", undefined]);
  });

  it("kills when told so, with SIGSYS", async () => {
    const { session } = await makeCalls(
      [["getppid"]],
      definePolicy({ name: "k", rules: [{ id: "k", kill: "getppid" }] }),
    );
    expect(session).toMatchObject({ exitCode: 159, signal: "SIGSYS" });
  });
});

describe("a policy file", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "hermes-policy-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  it("is loaded from TypeScript with what it imports, and its version covers all of it", async () => {
    file("rules.ts", `export const secret: string = "/a";`);
    const main = file(
      "main.ts",
      `import { definePolicy } from "hermes-runtime";\nimport { secret } from "./rules.ts";\nexport default definePolicy({ name: "main" + secret, on: { openat() {} } });`,
    );
    const first = await loadPolicy(main);
    expect(first.name).toBe("main/a");
    file("rules.ts", `export const secret: string = "/b";`);
    const second = await loadPolicy(main);
    expect(second.name).toBe("main/b");
    expect(second.version).not.toBe(first.version);
  });

  it("is refused with file, line and column when it is broken", async () => {
    await expect(loadPolicy(join(folder, "missing.ts"))).rejects.toThrow(
      /missing\.ts: cannot read it: ENOENT/,
    );
    await expect(loadPolicy(file("syntax.ts", "export default {\n  name: ,\n}"))).rejects.toThrow(
      /syntax\.ts:2:9: .*Unexpected/,
    );
    await expect(loadPolicy(file("nodefault.ts", "export const x = 1;"))).rejects.toThrow(
      /must `export default definePolicy/,
    );
    await expect(loadPolicy(file("throws.ts", "throw new Error('at load');"))).rejects.toThrow(
      /failed while loading: at load/,
    );
    await expect(
      loadPolicy(file("import.ts", `import "no-such-package"; export default 1;`)),
    ).rejects.toThrow(/cannot find the package "no-such-package"/);
    await expect(loadPolicy(file("policy.txt", ""))).rejects.toThrow(/not a policy language/);
    await expect(
      loadPolicy(
        file(
          "unknown.ts",
          `import { definePolicy } from "hermes-runtime"; export default definePolicy({ name: "x", on: { opn() {} } } as never);`,
        ),
      ),
    ).rejects.toThrow(/unknown\.ts: unknown system call "opn"/);
  });
});
