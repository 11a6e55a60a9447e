// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies have variables of their own
import { describe, expect, test } from "vitest";
import { connect, event, exec, load, open, ruleOf, rules } from "./policies.js";

const answer = async (rule: string, call: Parameters<typeof ruleOf>[1]) => (await rules(rule)).decide(call);

describe("an action becomes a verdict", () => {
  test("allow", async () =>
    expect(await answer("allow: read", open("/x"))).toEqual({ action: "allow", rule: "r1" }));
  test("deny, with EACCES unless it says otherwise", async () => {
    expect(await answer("deny: read, reason: no", open("/x"))).toEqual({
      action: "deny",
      errno: "EACCES",
      rule: "r1",
      reason: "no",
    });
    expect(await answer("deny: read, errno: ENOENT", open("/x"))).toMatchObject({ errno: "ENOENT" });
  });
  test("kill", async () =>
    expect(await answer("kill: ptrace", event("ptrace"))).toMatchObject({ action: "kill" }));
  test("ask", async () =>
    expect(await answer("ask: exec, reason: sure", exec(["x"]))).toEqual({
      action: "ask",
      reason: "sure",
      rule: "r1",
    }));
  test("redirect to a path, relative to the policy's folder", async () => {
    const policy = await rules(
      "redirect: read, path: /etc/app.conf, to: ./app.conf",
      "redirect: read, path: /y, to: ~/y",
    );
    const folder = policy.file.slice(0, policy.file.lastIndexOf("/"));
    expect(policy.decide(open("/etc/app.conf"))).toMatchObject({
      action: "modify",
      change: { to: `${folder}/app.conf` },
    });
    expect(policy.decide(open("/y"))).toMatchObject({ change: { to: "/home/me/y" } });
  });
  test("redirect of a folder keeps what is below", async () => {
    const verdict = await answer(
      'redirect: [read, stat], path: "/etc/app/**", to: "/opt/app/**"',
      open("/etc/app/a/b"),
    );
    expect(verdict).toMatchObject({ change: { to: "/opt/app/a/b" } });
  });
  test("redirect to an address", async () =>
    expect(
      await answer("redirect: connect, address: 10.0.0.1, to: 127.0.0.1:8080", connect("10.0.0.1:80")),
    ).toMatchObject({
      action: "modify",
      change: { to: { family: "ipv4", host: "127.0.0.1", port: 8080 } },
    }));
  test("redirect leaves calls with two paths alone", async () =>
    expect(
      await answer("redirect: write, path: /a, to: /b", event("rename", { paths: ["/a", "/c"] })),
    ).toBeUndefined());
  test("modify arguments", async () =>
    expect(
      await answer("modify: mkdirat, args: { mode: 0o700 }", event("mkdirat", { paths: ["/x"] })),
    ).toMatchObject({
      action: "modify",
      change: { args: { mode: 0o700n } },
    }));
  test("modify data, of calls that have data", async () => {
    const policy = await rules("modify: write, path: /log, data: hidden");
    expect(policy.decide(event("write", { targets: { fd: "/log" } }))).toMatchObject({
      change: { data: "hidden" },
    });
    expect(policy.decide(open("/log", "O_WRONLY"))).toBeUndefined();
  });
  test("emulate a result", async () =>
    expect(await answer("emulate: getpid, result: 1", event("getpid"))).toMatchObject({
      action: "emulate",
      emulation: { result: 1n },
    }));
  test("emulate uname's fields", async () => {
    const verdict = await answer("emulate: uname, data: { nodename: build, release: 1.10 }", event("uname"));
    const data = Buffer.from(verdict!.emulation!.data as Uint8Array);
    expect(data.toString("latin1", 65, 70)).toBe("build");
    expect(data.length).toBe(390);
  });
  test("emulate bytes", async () => {
    const call = event("getrandom");
    expect(
      (await answer("emulate: getrandom, result: 2, data: { hex: '00ff' }", call))?.emulation?.data,
    ).toEqual(Buffer.from([0, 255]));
    expect((await answer("emulate: getrandom, data: { base64: AAE= }", call))?.emulation?.data).toEqual(
      Buffer.from([0, 1]),
    );
  });
  test("emulate a file, for calls that open one", async () => {
    const policy = await rules("emulate: read, path: /etc/motd, content: hello");
    expect(policy.decide(open("/etc/motd"))).toMatchObject({
      action: "emulate",
      emulation: { content: "hello" },
    });
    expect(policy.decide(event("rename", { paths: ["/etc/motd", "/x"] }))).toBeUndefined();
  });
  test("fault, with everything that can go wrong", async () => {
    expect(
      await answer("fault: connect, errno: ECONNREFUSED, delay: 1.5s, signal: SIGUSR1", connect("1.1.1.1:1")),
    ).toMatchObject({
      action: "fault",
      fault: { errno: "ECONNREFUSED", delay: 1500, signal: "SIGUSR1" },
    });
    expect(await answer("fault: read, short: 1KB", event("read", { targets: { fd: "/x" } }))).toMatchObject({
      fault: { short: 1024 },
    });
  });
  test("fault of reading and writing strikes the transfers too", async () => {
    const policy = await rules('fault: write, path: "/d/**", errno: ENOSPC');
    expect(ruleOf(policy, open("/d/x", "O_WRONLY"))).toBe("r1");
    expect(ruleOf(policy, event("pwritev2", { targets: { fd: "/d/x" } }))).toBe("r1");
    expect(ruleOf(policy, event("copy_file_range", { targets: { fd_in: "/s", fd_out: "/d/x" } }))).toBe("r1");
    expect(
      ruleOf(await rules("deny: write, path: /d/x"), event("write", { targets: { fd: "/d/x" } })),
    ).toBeUndefined();
  });
  test("short counts only where bytes are counted", async () =>
    expect(await answer("fault: read, short: 10", open("/x"))).toBeUndefined());
});

describe("the order of rules", () => {
  test("the first that matches decides", async () => {
    const policy = await rules("allow: read, path: /a/b", 'deny: read, path: "/a/**"', "kill: read");
    expect(["/a/b", "/a/c", "/z"].map((path) => ruleOf(policy, open(path)))).toEqual(["r1", "r2", "r3"]);
  });

  test("rules on calls and on effects are in one order", async () => {
    const policy = await rules("allow: openat, path: /a", "deny: write");
    expect(ruleOf(policy, open("/a", "O_WRONLY"))).toBe("r1");
    expect(ruleOf(policy, event("open", { paths: ["/a"], flags: "O_WRONLY" }))).toBe("r2");
  });

  test("watch lets the others decide, and is named when none does", async () => {
    const policy = await rules("watch: read, reason: seen", "deny: read, path: /x");
    expect(policy.decide(open("/x"))).toMatchObject({ action: "deny", rule: "r2" });
    expect(policy.decide(open("/y"))).toEqual({ action: "allow", watched: true, rule: "r1", reason: "seen" });
  });
});

describe("default", () => {
  test("deny covers what no rule allows, of files, addresses, programs and processes", async () => {
    const policy = await load('name: x\ndefault: deny\nrules: [{ id: a, allow: read, path: "/usr/**" }]');
    expect(ruleOf(policy, open("/usr/x"))).toBe("a");
    for (const call of [
      open("/etc/x"),
      open("/usr/x", "O_RDWR"),
      exec(["x"]),
      connect("1.1.1.1:1"),
      event("bind", { address: "0.0.0.0:1" }),
      event("kill", { args: { pid: 5n, sig: 9n } }),
      event("ptrace"),
      event("mount", { paths: ["/a", "/b"] }),
      event("unlink", { paths: ["/usr/x"] }),
    ])
      expect(policy.decide(call), call.name).toMatchObject({ action: "deny", rule: "default" });
    for (const call of [
      event("newfstatat", { paths: ["/etc/x"] }),
      event("getpid"),
      event("fork"),
      event("write"),
    ])
      expect(policy.decide(call), call.name).toBeUndefined();
  });

  test("ask asks", async () => {
    const policy = await load("name: x\ndefault: ask\nrules: [{ id: a, allow: read }]");
    expect(policy.decide(exec(["x"]))).toMatchObject({ action: "ask", rule: "default" });
  });

  test("without rules is a policy too", async () =>
    expect((await load("name: x\ndefault: deny")).decide(open("/x"))).toMatchObject({ action: "deny" }));

  test("gives no word where a permitted call also does something else that is forbidden", async () => {
    const policy = await load("name: x\ndefault: deny\nrules: [{ id: a, allow: read }]");
    expect(ruleOf(policy, open("/x", "O_RDWR"))).toBe("default");
  });
});
