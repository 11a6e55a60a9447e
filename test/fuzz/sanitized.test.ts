import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADDON, HEADERS } from "../../scripts/native.mjs";
import { program } from "../support/programs.js";
import { root } from "../support/root.js";

/** The native layer, built with AddressSanitizer and UBSan, under a program that makes random calls. */

const SANITIZE = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"];
let folder: string;
let libraries: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-sanitized-"));
  cpSync(join(root, "dist"), join(folder, "dist"), { recursive: true });
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const native = join(folder, "dist/native");
  execFileSync(
    "gcc",
    [...SANITIZE, "-std=gnu11", "-shared", "-fPIC", "-I", HEADERS!, "-o", join(native, "hermes.node")].concat(
      ADDON,
      "-lpthread",
      "-lrt",
    ),
    { cwd: root },
  );
  libraries = ["libasan.so", "libubsan.so"]
    .map((name) => execFileSync("gcc", [`-print-file-name=${name}`], { encoding: "utf8" }).trim())
    .join(" ");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(args: readonly string[]) {
  return spawnSync(process.execPath, [join(folder, "dist/cli/main.cjs"), "run", ...args], {
    encoding: "utf8",
    timeout: 110_000,
    env: {
      PATH: process.env.PATH,
      LD_PRELOAD: libraries,
      ASAN_OPTIONS: "detect_leaks=0:abort_on_error=1",
      UBSAN_OPTIONS: "print_stacktrace=1",
    },
  });
}

describe("the native layer under the sanitizers", () => {
  for (const door of ["notify", "trace"])
    it(`has nothing to complain of while a program makes random calls, through the ${door} door`, () => {
      const policy = join(folder, `${door}.ts`);
      const look =
        "(e) => { void [e.path, e.paths, e.fd?.target, e.fd?.peer, e.address, e.argv, e.data, e.process.exe]; }";
      const returns = door === "trace" ? `, returns: { "*": ${look} }` : "";
      const actions = door === "notify" ? 'actions: ["deny"], ' : "";
      writeFileSync(
        policy,
        `import { definePolicy } from "hermes-runtime"; export default definePolicy({ name: "look", ${actions}on: { "*": ${look} }${returns} });`,
      );
      const own = join(folder, `own-${door}`);
      mkdirSync(own);
      chmodSync(own, 0o777);
      const fuzz = program("fuzz");
      const { status, stdout, stderr } = run([
        ...["-q", "-p", policy, "--door", door, "-C", own, "--env", "LD_PRELOAD"],
        ...["--", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", fuzz, "3", "40"],
      ]);
      expect(stderr).not.toMatch(/AddressSanitizer|runtime error/);
      expect([status, stdout], stderr).toEqual([0, "done\n"]);
    });

  it("is really sanitized", () => {
    expect(existsSync(join(folder, "dist/native/hermes.node"))).toBe(true);
    const symbols = execFileSync("nm", ["-D", join(folder, "dist/native/hermes.node")], { encoding: "utf8" });
    expect(symbols).toMatch(/__asan_report/);
    expect(symbols).toMatch(/__ubsan_handle/);
  });
});
