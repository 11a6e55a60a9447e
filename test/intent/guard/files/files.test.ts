import { describe, expect, it } from "vitest";
import { MAX_READ_CHARS, readPage } from "../../../../src/intent/guard/files/read-limit.js";
import { FileTracker } from "../../../../src/intent/guard/files/tracker.js";
import { Guard } from "../../../../src/intent/guard/guard.js";
import { LAYERS } from "../../../../src/intent/guard/layers.js";

const guard = new Guard(LAYERS, { workspace: "/projects/app", home: "/home/ann" });
const judge = (input: string, access?: string, more = {}) =>
  guard.check({ kind: "path", input, fields: { access, ...more } });
const rules = (input: string, access?: string) => judge(input, access).findings.map(({ rule }) => rule);

describe("BLOCKED_DEVICE_PATHS", () => {
  it.each([
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/null",
  ])("%s can be neither read nor written", (path) => {
    for (const access of [undefined, "read", "write"])
      expect([judge(path, access).action, ...rules(path, access)]).toEqual(
        expect.arrayContaining(["deny", "device"]),
      );
  });
  it.each([
    "/dev//zero",
    "/dev/./zero",
    "/dev/shm/../zero",
    "/proc/self/fd/0",
    "/dev/fd/1",
    "/dev/sda",
    "/dev/mem",
  ])("nor %s", (path) => expect(judge(path, "read").action).toBe("deny"));
  it("a file in /dev/shm is a file", () => expect(judge("/dev/shm/x", "write").action).toBe("allow"));
});

describe("SENSITIVE_WRITE_PATHS", () => {
  it.each(["/etc/passwd", "/etc/", "/boot/vmlinuz", "/boot/", "/usr/lib/systemd/system/a.service"])(
    "%s: writes blocked, reads allowed",
    (path) => {
      expect(rules(path, "write")).toContain("sensitive-write");
      expect(judge(path, "write").action).toBe("deny");
      expect(judge(path, "read").action).toBe("allow");
    },
  );
  it.each([
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/user/1000/podman/podman.sock",
  ])("%s: the docker socket is closed to reads too, since a read is a request", (path) => {
    expect(judge(path, "write").action).toBe("deny");
    expect(judge(path, "read")).toMatchObject({ action: "deny", findings: [{ rule: "container-socket" }] });
  });
  it("asks when the request names no access", () => expect(judge("/etc/hosts").action).toBe("ask"));
});

describe("/proc", () => {
  it.each(["environ", "mem", "maps"])("/proc/*/%s is closed to every agent", (name) => {
    for (const who of ["self", "1", "4242", "thread-self", "self/task/7"])
      expect(judge(`/proc/${who}/${name}`, "read")).toMatchObject({
        action: "deny",
        findings: [{ rule: "process-secrets" }],
      });
  });
  it.each(["/proc/cpuinfo", "/proc/meminfo", "/proc/self/status"])("%s can be read", (path) =>
    expect(judge(path, "read").action).toBe("allow"),
  );
});

describe("instructions of agents", () => {
  it.each([
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    "sub/AGENTS.md",
    ".cursorrules",
    ".cursor/rules/a.mdc",
    ".windsurfrules",
    ".clinerules",
    ".github/copilot-instructions.md",
    ".claude/settings.json",
    ".mcp.json",
    "hermes.yaml",
    "SOUL.md",
  ])("%s: changing it asks, reading it does not", (path) => {
    expect(judge(path, "write")).toMatchObject({ action: "ask", findings: [{ rule: "agent-instructions" }] });
    expect(judge(path, "read").action).toBe("allow");
  });
});

describe("files that run code later", () => {
  it.each([
    "~/.bashrc",
    "~/.zshrc",
    "~/.profile",
    "~/.config/autostart/a.desktop",
    "~/.gitconfig",
    ".git/hooks/pre-commit",
    ".git/config",
  ])("writing %s asks", (path) => expect(rules(path, "write")).toContain("persistence"));
});

describe("credentials of people and tools", () => {
  it.each([
    "~/.ssh/id_ed25519",
    "~/.aws/credentials",
    "~/.netrc",
    "~/.kube/config",
    "~/.docker/config.json",
    "~/.config/gh/hosts.yml",
    "~/.git-credentials",
    "~/.gnupg/x",
    ".env",
    "packages/api/.env.local",
    "/etc/shadow",
    "/run/secrets/x",
  ])("%s cannot be read", (path) => expect(judge(path, "read").action).toBe("deny"));
  it.each([
    "~/.ssh/known_hosts",
    "~/.ssh/id_ed25519.pub",
    ".env.example",
    ".env.sample",
    "src/env.ts",
    "cert.pem",
  ])("%s is", (path) => expect(judge(path, "read").action).toBe("allow"));
});

describe("the workspace may be in a system folder", () => {
  it.each(["/root/app", "/opt/app", "/srv/app"])("%s", (workspace) => {
    const there = new Guard(LAYERS, { workspace, home: "/root" });
    expect(there.check({ kind: "path", input: "src/a.ts", fields: { access: "write" } }).action).toBe(
      "allow",
    );
    expect(there.check({ kind: "path", input: "/etc/hosts", fields: { access: "write" } }).action).toBe(
      "deny",
    );
  });
});

describe("file_read_max_chars", () => {
  it("is 100,000 by default", () => expect(MAX_READ_CHARS).toBe(100_000));

  it("refuses to read more at once, and says how to read less", () => {
    const { action, findings } = judge("big.log", "read", { chars: 100_001 });
    expect(action).toBe("deny");
    expect(findings[0]).toMatchObject({
      rule: "read-limit",
      instead: expect.stringMatching(/offset.*limit/),
    });
    expect(judge("big.log", "read", { chars: 100_000 }).action).toBe("allow");
  });

  it("can be configured", () => {
    const small = new Guard(LAYERS, { config: { files: { read_max_chars: 10 } } });
    expect(small.check({ kind: "path", input: "a", fields: { access: "read", chars: 11 } }).action).toBe(
      "deny",
    );
  });

  it("returns pages with offset and limit, and where to continue", () => {
    const text = Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`).join("");
    expect(readPage(text, { offset: 3, limit: 2 })).toEqual({
      ok: true,
      text: "line 3\nline 4\n",
      lines: 2,
      next: 5,
    });
    expect(readPage(text, { offset: 9, limit: 5 })).toEqual({
      ok: true,
      text: "line 9\nline 10\n",
      lines: 2,
    });
    expect(readPage(text, { offset: 99, limit: 5 })).toEqual({ ok: true, text: "", lines: 0 });
    expect(readPage("a\nb", { offset: 2, limit: 1 })).toEqual({ ok: true, text: "b", lines: 1 });
    expect(readPage(text, { offset: 1, limit: 10 }, 20)).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/offset and limit/),
    });
  });
});

describe("the file tracker", () => {
  it("detects re-read loops: warns at the third read, refuses the fourth", () => {
    const tracker = new FileTracker();
    const read = () => tracker.read("task", "/a", "1");
    expect(read()).toBeUndefined();
    expect(read()).toBeUndefined();
    expect(read()).toMatchObject({ rule: "re-read", stop: false });
    expect(read()).toMatchObject({ rule: "re-read-loop", stop: true });
  });

  it("another part, another file, a change, or any other action ends the row", () => {
    const tracker = new FileTracker({ warnAfter: 2, stopAfter: 3 });
    expect(tracker.read("t", "/a", "1", "1-10")).toBeUndefined();
    expect(tracker.read("t", "/a", "1", "11-20")).toBeUndefined();
    expect(tracker.read("t", "/a", "2", "11-20")).toBeUndefined();
    expect(tracker.read("t", "/b", "1")).toBeUndefined();
    tracker.acted("t");
    expect(tracker.read("t", "/b", "1")).toBeUndefined();
    expect(tracker.read("t", "/b", "1")).toMatchObject({ rule: "re-read" });
  });

  it("warns when a file changed between an agent's read and its write", () => {
    const tracker = new FileTracker();
    tracker.read("t", "/a", "1");
    expect(tracker.beforeWrite("t", "/a", "1")).toEqual([]);
    expect(tracker.beforeWrite("t", "/a", "2")).toMatchObject([{ rule: "changed-since-read" }]);
    expect(tracker.beforeWrite("t", "/a", undefined)).toMatchObject([{ rule: "changed-since-read" }]);
    tracker.wrote("t", "/a", "3");
    expect(tracker.beforeWrite("t", "/a", "3")).toEqual([]);
  });

  it("warns about an unread file, but not about a new one", () => {
    const tracker = new FileTracker();
    expect(tracker.beforeWrite("t", "/a", "1")).toMatchObject([{ rule: "written-unread" }]);
    expect(tracker.beforeWrite("t", "/new", undefined)).toEqual([]);
  });

  it("sees concurrent writers", () => {
    const tracker = new FileTracker();
    tracker.read("one", "/a", "1");
    tracker.read("two", "/a", "1");
    tracker.wrote("two", "/a", "2");
    expect(tracker.beforeWrite("one", "/a", "2")).toMatchObject([
      { rule: "concurrent-writer", reason: expect.stringContaining("two") },
    ]);
    tracker.read("one", "/a", "2");
    expect(tracker.beforeWrite("one", "/a", "2")).toEqual([]);
  });

  it("keeps tasks apart", () => {
    const tracker = new FileTracker();
    for (let i = 0; i < 3; i++) tracker.read("one", "/a", "1");
    expect(tracker.read("two", "/a", "1")).toBeUndefined();
    tracker.forget("one");
    expect(tracker.read("one", "/a", "1")).toBeUndefined();
  });
});
