import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NOBODY, OrdinaryUser } from "../support/ordinary-user.js";
import { program } from "../support/programs.js";

let user: OrdinaryUser;
beforeAll(() => {
  user = new OrdinaryUser();
});
afterAll(() => user.remove());

describe("an ordinary user", () => {
  for (const door of ["notify", "trace"])
    it(`can have every call of a program decided through the ${door} door`, () => {
      const { stdout, stderr } = user.run(`
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
    const { stdout } = user.run(`
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
    const { stdout } = user.run(`
      import { run } from "./dist/index.js";
      const r = await run({ command: ["sh", "-c", "su -c true root </dev/null 2>/dev/null; echo $?"] });
      console.log(r.exitCode);
    `);
    expect(stdout).toMatch(/^[1-9]\d*\n0\n$/);
  });
});

describe("the supervisor", () => {
  it("cannot be looked into by the program, although it has the same user: not its environment, memory or descriptors", () => {
    const script = [
      "above=$(cut -d' ' -f4 /proc/$PPID/stat)",
      "for pid in $PPID $above; do for part in environ mem fd/0 maps; do head -c1 /proc/$pid/$part >/dev/null 2>&1 && echo seen $part; done; done",
      "head -c1 /proc/self/environ >/dev/null && echo own",
      "env | grep -c SECRET",
    ].join("; ");
    const { stdout, stderr } = user.run(`
      import { spawnSync } from "node:child_process";
      const words = ["dist/cli/main.cjs", "run", "-q", "--env", "SECRET", "--", "sh", "-c", ${JSON.stringify(script)}];
      const done = spawnSync(process.execPath, words, { cwd: ${JSON.stringify(user.folder)}, env: { ...process.env, SECRET: "s" }, encoding: "utf8" });
      console.log(done.stdout + done.stderr);
    `);
    expect(stderr).toBe("");
    expect(stdout).toBe("own\n0\n\n");
  });
});

describe("a program that makes random calls with random arguments", () => {
  for (const [door, part] of [
    ["notify", 'actions: ["deny"], on: { "*": look }'],
    ["trace", 'on: { "*": look }, returns: { "*": look }'],
  ] as const)
    it(`neither ends nor confuses the supervisor, through the ${door} door`, () => {
      const fuzz = user.give(program("fuzz"));
      const { stdout, stderr } = user.run(`
        import { definePolicy, run } from "./dist/index.js";
        let seen = 0;
        const look = (e) => {
          seen++;
          void [e.path, e.requested, e.paths, e.fd?.target, e.fd?.kind, e.fd?.peer, e.addresses, e.argv, e.env, e.flags, e.data];
          void [e.process.exe, e.process.argv, e.memory(e.argument(1), 100), ...Object.values({ ...e.args })];
        };
        const policy = definePolicy({ name: "look", ${part} });
        for (const seed of [1, 2]) {
          const command = [${JSON.stringify(fuzz)}, String(seed), "40"];
          const r = await run({ command, policy, door: "${door}", trace: { file: "/dev/null", events: ["%file", "%network"] } });
          console.log(r.exitCode, r.problems.length);
        }
        console.log(seen > 2000);
      `);
      expect(stderr).toBe("");
      expect(stdout).toBe("done\n0 0\ndone\n0 0\ntrue\n");
    });
});
