import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NOBODY, OrdinaryUser } from "../support/ordinary-user.js";
import { program } from "../support/programs.js";
import { root } from "../support/root.js";

/** Looking into processes by /proc: a supervisor that acts in a program's place must not lend it its eyes. */

const isRoot = process.getuid?.() === 0;
const looker = program("looker");
const folder = mkdtempSync(join(tmpdir(), "hermes-others-"));
const rules = (name: string, text: string) => {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, `name: ${name}\nrules:\n${text}\n`);
  return file;
};
/** Every path is looked at, and nothing is denied that is there. */
const LOOKS = rules(
  "looks",
  `- { id: nowhere, deny: [read, write, stat, list], path: "/nowhere/**", reason: It is not there. }`,
);
const INSIDE = rules(
  "inside",
  `- { id: own, allow: write, path: ["${folder}/**", /dev/null, "/proc/self/**"] }
- { id: elsewhere, deny: write, reason: Only this folder is to be changed. }`,
);
/** The outsider's stdin is a pipe, and might be what a rule denies. */
const NAMELESS = { "fd/0": "EACCES", "stat-through-fd": "EACCES" };
let ordinary: OrdinaryUser;

beforeAll(() => {
  ordinary = new OrdinaryUser();
  cpSync(join(root, "policies"), join(ordinary.folder, "policies"), { recursive: true });
  cpSync(looker, join(folder, "looker"));
  chmodSync(folder, 0o777);
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
});
afterAll(() => {
  ordinary.remove();
  rmSync(folder, { recursive: true, force: true });
});

for (const user of isRoot ? (["root", "ordinary"] as const) : (["ordinary"] as const))
  describe(user === "root" ? "as root" : "as an ordinary user", () => {
    const id = user === "root" || !isRoot ? process.getuid!() : NOBODY;
    const who = { uid: id, gid: isRoot ? id : process.getgid!() };
    const own = join(folder, "looker");
    let outsider: ChildProcess;

    beforeAll(async () => {
      outsider = spawn("/bin/bash", ["-c", "echo; exec sleep 600 < <(exec sleep 600)"], {
        ...who,
        cwd: "/",
        env: { PATH: "/usr/bin:/bin" },
        stdio: ["ignore", "pipe", "ignore"],
        detached: true,
      });
      await once(outsider.stdout!, "data");
      // Until it has become what it will be, its number means the shell.
      while (spawnSync("readlink", [`/proc/${outsider.pid}/exe`], who).stdout.includes("sh\n"));
    });
    afterAll(() => process.kill(-outsider.pid!, "SIGKILL")); // both of them

    /** What came of each way. */
    const look = (command: readonly string[]): Record<string, string> => {
      const [file, ...args] = command;
      const stdio = ["ignore", "pipe", "pipe"] as const;
      const ran = spawnSync(file!, args, {
        ...who,
        cwd: folder,
        encoding: "utf8",
        timeout: 110_000,
        stdio: [...stdio],
      });
      const lines = ran.stdout.trim().split("\n");
      const found = Object.fromEntries(lines.map((line) => line.replace(/task\/\d+/, "task/N").split(" ")));
      expect({ ways: Object.keys(found).length > 25, said: ran.stderr }).toMatchObject({ ways: true });
      return found;
    };
    const build = () => (user === "root" ? root : ordinary.folder);
    const under = (options: readonly string[], target: readonly string[]) =>
      look([
        process.execPath,
        join(build(), "dist/cli/main.cjs"),
        "run",
        "-q",
        ...options,
        "--",
        own,
        ...target,
      ]);
    const refused = (found: Record<string, string>) =>
      expect(
        Object.entries(found).filter(([, result]) => !["EACCES", "EPERM", "ENOENT"].includes(result)),
      ).toEqual([]);

    it("all ways lead into a process when nothing is in between", () => {
      const bare = look([own, String(outsider.pid)]);
      expect(Object.entries(bare).filter(([, result]) => result !== "ok")).toEqual([]);
    });

    for (const door of ["notify", "trace"]) {
      it(`without a fence nothing changes, for any process (${door})`, () => {
        const options = ["-p", LOOKS, "--door", door, "--fence", "none"];
        for (const target of [["self"], []]) expect(under(options, target)).toEqual(look([own, ...target]));
        const outside = [String(outsider.pid)];
        expect(under(options, outside)).toEqual({ ...look([own, ...outside]), ...NAMELESS });
      });

      it(`behind Landlock a process outside of the session is looked into as the kernel has it (${door})`, () => {
        const options = ["-p", LOOKS, "--door", door, "--writable", folder];
        const outside = [String(outsider.pid)];
        const found = under(options, outside);
        // The kernel does not hold root to it where it only reads. What has no name might be what a rule denies.
        if (user === "ordinary") refused(found);
        else expect(found).toEqual({ ...under(["--writable", folder], outside), ...NAMELESS });
        // Landlock lets nothing be written below /proc, memory included.
        for (const target of [["self"], []])
          expect(under(options, target)).toEqual({ ...look([own, ...target]), mem: "EACCES" });
      });

      it(`behind a strict fence its init cannot be looked into (${door})`, () => {
        const options = ["-p", LOOKS, "--door", door, "--fence", "strict", "--writable", folder];
        const found = under(options, ["1"]);
        expect(Object.values(found).filter((result) => result === "ok")).toEqual([]);
        expect(under(options, [])).toEqual(look([own]));
      });

      it(`the pipe that another process reads is no file that a rule permits (${door})`, () => {
        const found = under(["-p", INSIDE, "--door", door, "--fence", "none"], [String(outsider.pid)]);
        expect(found["fd/0"]).toBe("EACCES");
        expect(found.environ).toBe("ok");
      });
    }

    if (user === "root")
      it("a name in another process's tree of mounts is no name for a rule", async () => {
        for (const name of ["secret", "public"]) mkdirSync(join(folder, name));
        writeFileSync(join(folder, "secret/token"), "TOKEN\n");
        const script = `mount --bind ${folder}/secret ${folder}/public && echo && exec sleep 600`;
        const apart = spawn("unshare", ["-m", "sh", "-c", script], { stdio: ["ignore", "pipe", "inherit"] });
        await once(apart.stdout!, "data");
        const read = ["cat", `/proc/${apart.pid}/root${folder}/public/token`];
        const bare = spawnSync(read[0]!, read.slice(1), { encoding: "utf8" });
        const policy = rules(
          "secret",
          `- { id: s, deny: read, path: "${folder}/secret/**", reason: It is secret. }`,
        );
        const { stdout, stderr } = spawnSync(
          process.execPath,
          [join(root, "dist/cli/main.cjs"), "run", "-q", "-p", policy, "--fence", "none", "--", ...read],
          { encoding: "utf8" },
        );
        apart.kill("SIGKILL");
        expect(bare.stdout).toBe("TOKEN\n");
        expect({ stdout, stderr }).toEqual({
          stdout: "",
          stderr: expect.stringContaining("Permission denied"),
        });
      });

    it("HERMES itself cannot be looked into", () => {
      const main = join(build(), "dist/cli/main.cjs");
      const parentOf = (pid: string) => `$(awk '/^PPid/ { print $2 }' /proc/${pid}/status)`;
      const broker = "$PPID";
      for (const above of [broker, parentOf(broker), parentOf(parentOf(broker))]) {
        const script = `exec ${own} ${above}`;
        refused(
          look([
            process.execPath,
            main,
            "run",
            "-q",
            "-p",
            LOOKS,
            "--fence",
            "none",
            "--",
            "sh",
            "-c",
            script,
          ]),
        );
      }
    });

    for (const policy of ["secrets", "agent", "untrusted"])
      it(`what a process outside keeps in its environment and memory is not for ${policy}`, () => {
        const found = under(["-p", join(build(), `policies/${policy}.yaml`)], [String(outsider.pid)]);
        const secret = Object.entries(found).filter(([way]) =>
          /environ|mem$|held|from-|restricted|^link$/.test(way),
        );
        expect(secret.length).toBeGreaterThan(6);
        expect(secret.filter(([, result]) => result === "ok")).toEqual([]);
      });
  });
