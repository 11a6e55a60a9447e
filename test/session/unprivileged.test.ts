import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../support/programs.js";

const NOBODY = 65534;
let folder: string;

/** A copy that an ordinary user can read, wherever this checkout lies. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-nobody-"));
  chmodSync(folder, 0o755);
  cpSync(join(root, "dist"), join(folder, "dist"), { recursive: true });
  cpSync(join(root, "package.json"), join(folder, "package.json"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function asOrdinaryUser(script: string) {
  const file = join(folder, "script.mjs");
  writeFileSync(file, script);
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  return spawnSync(process.execPath, [file], {
    cwd: "/",
    encoding: "utf8",
    env: { PATH: process.env.PATH },
    timeout: 60_000,
    ...user,
  });
}

describe("an ordinary user", () => {
  for (const door of ["notify", "trace"])
    it(`can have every call of a program decided through the ${door} door`, () => {
      const { stdout, stderr } = asOrdinaryUser(`
        import { definePolicy, deny, run } from "./dist/index.js";
        const policy = definePolicy({ name: "p", actions: ["deny"], on: { "*"() {}, mkdir: () => deny("no", "EROFS") } });
        const r = await run({ command: ["sh", "-c", "id -u; mkdir /tmp/never; grep NoNewPrivs /proc/self/status"], policy, door: "${door}" });
        console.log(r.exitCode, r.summary.byAction.deny, r.protections.noNewPrivs);
      `);
      expect(stderr).toMatch(/Read-only file system/);
      const uid = process.getuid?.() === 0 ? NOBODY : process.getuid?.();
      expect(stdout).toBe(`${uid}\nNoNewPrivs:\t1\n0 1 true\n`);
    });

  it("can have calls changed and returns seen", () => {
    const { stdout } = asOrdinaryUser(`
      import { definePolicy, modify, redirect, run, virtualFile } from "./dist/index.js";
      const policy = definePolicy({
        name: "p",
        on: { openat: (e) => (e.path === "/a" ? virtualFile("made up\\n") : e.path === "/b" ? redirect("/etc/passwd") : undefined) },
        returns: { getppid: () => modify({ result: 7 }) },
      });
      const r = await run({ command: ["sh", "-c", "cat /a; head -c4 /b; echo"], policy });
      console.log(r.exitCode);
    `);
    expect(stdout).toBe("made up\nroot\n0\n");
  });

  it("loses the privilege of set-user-id programs inside, and nothing else", () => {
    const { stdout } = asOrdinaryUser(`
      import { run } from "./dist/index.js";
      const r = await run({ command: ["sh", "-c", "su -c true root </dev/null 2>/dev/null; echo $?"] });
      console.log(r.exitCode);
    `);
    expect(stdout).toMatch(/^[1-9]\d*\n0\n$/);
  });
});
