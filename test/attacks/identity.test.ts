import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermes } from "../support/cli.js";
import { NOBODY } from "../support/ordinary-user.js";
import { program } from "../support/programs.js";

/** A process that has changed its user, in any way, is served as that user: what it may not do, we do not. */

const EACCES = "13\n";
const EPERM = "1\n";
let folder: string;
let policy: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-identity-"));
  chmodSync(folder, 0o755);
  policy = join(folder, "policy.yaml");
  const rules = `  - { id: away, deny: read, path: /nowhere/* }
  - { id: sends, watch: [connect, send] }`;
  writeFileSync(policy, `name: looks\nrules:\n${rules}\n`);
  if (process.getuid?.() !== 0) return;
  writeFileSync(join(folder, "of-root"), "secret", { mode: 0o600 });
  writeFileSync(join(folder, "of-nobody"), "secret", { mode: 0o600 });
  chownSync(join(folder, "of-nobody"), NOBODY, NOBODY);
  copyFileSync(program("becomes"), join(folder, "set-id"));
  chownSync(join(folder, "set-id"), NOBODY, NOBODY);
  chmodSync(join(folder, "set-id"), 0o4755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What it prints bare, and on each door. */
function everywhere(...args: string[]): Record<string, string> {
  return onEachDoor([program("becomes"), ...args]);
}

function onEachDoor(command: readonly string[]): Record<string, string> {
  const run = (door: string) =>
    hermes(["run", "-q", "-p", policy, "--fence", "none", "--door", door, "--", ...command]).stdout;
  return {
    bare: spawnSync(command[0]!, command.slice(1), { encoding: "utf8" }).stdout,
    auto: run("auto"),
    notify: run("notify"),
    trace: run("trace"),
  };
}
const all = (told: string) => ({ bare: told, auto: told, notify: told, trace: told });

describe.runIf(process.getuid?.() === 0)("as root", () => {
  it("a program whose capabilities went with an exec opens no file of others", () => {
    expect(everywhere("bounding-set", join(folder, "of-nobody"))).toEqual(all(EACCES));
  });

  it("nor does one that another thread than the first has started", () => {
    expect(everywhere("thread", join(folder, "of-nobody"))).toEqual(all(EACCES));
  });

  it("a set-user-id program opens files as its owner", () => {
    const told = everywhere("set-id", join(folder, "of-root"), join(folder, "set-id"));
    expect(told).toEqual(all(EACCES));
  });

  it("root of another user namespace is not root", () => {
    expect(everywhere("user-namespace", join(folder, "of-root"))).toEqual(all(EACCES));
  });

  describe.each(["clone", "unshare"])("in network and other namespaces of its own, by %s", (way) => {
    const TTL = "/proc/sys/net/ipv4/ip_default_ttl";
    const QUEUES = "/proc/sys/kernel/msgmni";

    it.each([TTL, QUEUES])("a program changes its own %s and not ours", (setting) => {
      const before = readFileSync(setting, "latin1");
      const other = String(Number(before) + 1);
      try {
        expect(onEachDoor([program("netns"), way, setting, other])).toEqual(all(""));
        expect(readFileSync(setting, "latin1")).toBe(before);
      } finally {
        writeFileSync(setting, before);
      }
    });

    it.runIf(existsSync("/dev/net/tun"))("a program makes devices in its own", () => {
      expect(onEachDoor([program("netns"), way, "tun"])).toEqual(all("1\n"));
    });

    it("the supervisor comes back from them", () => {
      const script = `"$0" ${way} ${TTL} 77; readlink /proc/self/ns/net; readlink /proc/$(cut -d' ' -f4 /proc/$PPID/stat)/ns/net`;
      const { stdout } = hermes([
        ...["run", "-q", "-p", policy, "--fence", "none", "--"],
        ...["sh", "-c", script, program("netns")],
      ]);
      const [own, supervisors] = stdout.trim().split("\n");
      expect(own).toMatch(/^net:/);
      expect(supervisors).toBe(own);
    });
  });

  it("no sender can claim in a message to be root", () => {
    expect(everywhere("claim", "-")).toEqual(all(EPERM));
  });
});
