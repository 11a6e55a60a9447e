import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NOBODY, OrdinaryUser } from "../../support/ordinary-user.js";
import { program } from "../../support/programs.js";
import { root } from "../../support/root.js";

/** Who is signalled, bits of arguments and socket types, on a real program, through both doors, as both users. */

const folder = mkdtempSync(join(tmpdir(), "hermes-language-"));
const isRoot = process.getuid?.() === 0;
let ordinary: OrdinaryUser;
let binary: string;
let mounter: string;

beforeAll(() => {
  ordinary = new OrdinaryUser();
  binary = ordinary.give(program("signaller"));
  mounter = ordinary.give(program("mounter"));
});
afterAll(() => {
  ordinary.remove();
  rmSync(folder, { recursive: true, force: true });
});

const POLICY = `name: language
rules:
  - { id: ours, allow: signal, target: session }
  - { id: others, deny: signal, errno: EPERM, reason: They are not of this run. }
  - { id: w-xor-x, deny: [mmap, mprotect, pkey_mprotect], where: { prot: { all: [PROT_WRITE, PROT_EXEC] } } }
  - { id: datagrams, deny: socket, family: inet, type: dgram }
`;

/** A process that is not of the run, of the same user, with a group of its own, that does not mind SIGUSR1. */
async function outsider(user: object): Promise<ChildProcess> {
  const script = "$SIG{USR1} = 'IGNORE'; $| = 1; print qq{here\\n}; sleep 1 while 1";
  const child = spawn("perl", ["-e", script], {
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
    ...user,
  });
  await once(child.stdout!, "data");
  return child;
}

const LUA = `
hermes.on("kill", function(e)
  for _, receiver in ipairs(e.receivers) do
    for _, is in ipairs(receiver.is) do
      if is == "outside" and e.signal == "SIGUSR1" then return hermes.deny("It is not of this run.", "ENOSPC") end
    end
  end
end)
`;

function told(stdout: string): Record<string, string> {
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
  return Object.fromEntries(lines.map(([way, whom, result]) => [`${way} ${whom}`, result!]));
}

const WAYS =
  "kill kill-group tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal F_SETOWN".split(" ");

describe.each(isRoot ? (["root", "ordinary"] as const) : (["ordinary"] as const))("as %s", (who) => {
  const user = who === "ordinary" && isRoot ? { uid: NOBODY, gid: NOBODY } : {};

  test.each(["none", "notify", "trace"])("door %s", async (door) => {
    const other = await outsider(user);
    try {
      const policy = join(folder, "policy.yaml");
      writeFileSync(policy, POLICY);
      spawnSync("chmod", ["-R", "a+rX", folder]);
      const build = who === "ordinary" ? ordinary.folder : root;
      const hermes = [
        process.execPath,
        join(build, "dist/cli/main.cjs"),
        "run",
        "-q",
        "-p",
        policy,
        "--door",
        door,
        "--",
      ];
      // A group of its own: the run's, and that of HERMES.
      const args = ["-w", ...(door === "none" ? [] : hermes), binary, String(other.pid)];
      const done = spawnSync("setsid", args, { cwd: folder, encoding: "utf8", timeout: 100_000, ...user });
      const results = told(done.stdout);
      const refused = (errno: string) => (door === "none" ? "ok" : errno);
      for (const way of WAYS) {
        expect(results[`${way} child`], `${way} child: ${done.stderr}`).toBe("ok");
        expect(results[`${way} outsider`], `${way} outsider: ${done.stderr}`).toBe(refused("EPERM"));
      }
      expect(results["pidfd-group outsider"]).toBe(refused("EPERM"));
      expect(results["ask outsider"]).toBe("ok");
      expect(results["raise itself"]).toBe("ok");
      expect(results["kill group"], "HERMES is in the group, and does not count").toBe("ok");
      expect(results["mmap both"]).toBe(refused("EACCES"));
      expect(results["mprotect both"]).toBe(refused("EACCES"));
      expect(results["execute both"]).toBe("ok");
      expect(results["stream cloexec"]).toBe("ok");
      expect(results["datagram cloexec"]).toBe(refused("EACCES"));
    } finally {
      other.kill("SIGKILL");
    }
  });

  test.each(["none", "notify", "trace"])("attributes of mounts are mounts, door %s", (door) => {
    const policy = join(folder, "mounts.yaml");
    writeFileSync(policy, "name: mounts\nrules:\n  - { id: mounts, deny: mount, errno: ENOSPC }\n");
    spawnSync("chmod", ["-R", "a+rX", folder]);
    const build = who === "ordinary" ? ordinary.folder : root;
    const main = join(build, "dist/cli/main.cjs");
    const hermes = [process.execPath, main, "run", "-q", "-p", policy, "--door", door, "--"];
    const [command, ...args] = [...(door === "none" ? [] : hermes), mounter];
    const done = spawnSync(command!, args, { cwd: folder, encoding: "utf8", timeout: 100_000, ...user });
    const results = told(done.stdout);
    for (const way of ["mount_setattr", "open_tree_attr", "fsopen", "fspick"])
      expect(results[`${way} mount`], `${way}: ${done.stderr}`).toBe(door === "none" ? "ok" : "ENOSPC");
  });

  if (who === (isRoot ? "root" : "ordinary"))
    test("Lua sees the same, and the trace keeps it for a simulation", async () => {
      const other = await outsider(user);
      const own = mkdtempSync(join(folder, "lua-"));
      try {
        const lua = join(own, "p.lua");
        const yaml = join(own, "p.yaml");
        const trace = join(own, "t.jsonl");
        writeFileSync(lua, LUA);
        writeFileSync(
          yaml,
          "name: y\nrules:\n  - { id: outsiders, deny: signal, target: outside, signal: SIGUSR1 }\n",
        );
        const main = join(root, "dist/cli/main.cjs");
        const options = { cwd: own, encoding: "utf8", timeout: 100_000, ...user } as const;
        const run = [
          "run",
          "-q",
          "-p",
          lua,
          "--trace",
          trace,
          "--events",
          "kill",
          "--",
          binary,
          String(other.pid),
        ];
        const done = spawnSync("setsid", ["-w", process.execPath, main, ...run], options);
        const results = told(done.stdout);
        expect(results["kill child"], done.stderr).toBe("ok");
        expect(results["kill outsider"], done.stderr).toBe("ENOSPC");
        const again = spawnSync(process.execPath, [main, "simulate", "--policy", yaml, trace], options);
        expect(again.stdout + again.stderr).toContain("outsiders");
      } finally {
        other.kill("SIGKILL");
      }
    });

  test("in a pid namespace of its own, a child is found by the number that it has there", () => {
    const policy = join(folder, "policy.yaml");
    writeFileSync(policy, POLICY);
    spawnSync("chmod", ["-R", "a+rX", folder]);
    const build = who === "ordinary" ? ordinary.folder : root;
    const main = [process.execPath, join(build, "dist/cli/main.cjs")];
    const options = ["run", "-q", "-p", policy, "--fence", "strict", "--", binary, "0"];
    const done = spawnSync("setsid", ["-w", ...main, ...options], {
      cwd: folder,
      encoding: "utf8",
      timeout: 100_000,
      ...user,
    });
    const results = told(done.stdout);
    for (const way of WAYS) expect(results[`${way} child`], `${way}: ${done.stderr}`).toBe("ok");
  });
});
