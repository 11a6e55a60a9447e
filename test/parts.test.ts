import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LONG } from "./support/long.js";
import { kernelReason, parts } from "./support/parts.js";
import { QUARANTINE } from "./support/quarantine.js";
import { root } from "./support/root.js";

const { pure, kernel } = parts();
const all = [...pure, ...kernel];

describe("the two parts of npm test", () => {
  it("hold every test file once", () => {
    expect(new Set(all).size).toBe(all.length);
    expect(pure).toContain("test/parts.test.ts");
  });

  it("keep the pure part large: an import in test/support or src/ must not turn it into kernel tests", () => {
    expect(pure.length).toBeGreaterThanOrEqual(63);
  });

  it("say why a test is a kernel test", () => {
    const reasons = kernel.map((file) => kernelReason(join(root, file)));
    expect(reasons.filter((reason) => !reason || !/^test\/\S+ (> |says so$)/.test(reason))).toEqual([]);
  });
});

describe("a pure test", () => {
  it("cannot start a process: it is told where it belongs", () => {
    const { spawn, execFileSync } = process.getBuiltinModule("node:child_process");
    expect(() => spawn("true")).toThrow(/a pure test must not start a process \(true\).*kernel part/);
    expect(() => execFileSync("true")).toThrow(/must not start a process/);
  });

  it("cannot load our native addon, whether it is built or not", () => {
    const file = join(root, "dist/native/hermes.node");
    expect(() => process.dlopen({ exports: {} }, file)).toThrow(/must not load a native addon/);
  });
});

describe("lists of tests by name", () => {
  it("name tests that exist: the long ones", () => {
    expect(LONG.filter((part) => !all.some((file) => file.includes(part)))).toEqual([]);
  });

  it("name tests that exist, and a cause: the quarantine", () => {
    for (const { file, test, cause } of QUARANTINE) {
      expect(kernel).toContain(file);
      expect(test).not.toBe("");
      expect(cause.length).toBeGreaterThan(20);
    }
  });
});
