import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commonFloor, within } from "../../../src/kernel/fence/floor.js";
import { loadPolicy } from "../../../src/policy/load.js";
import { capture } from "../../support/calls.js";
import { root } from "../../support/root.js";

let folder: string;
let work: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-floor-"));
  work = join(folder, "work");
  for (const name of ["work", "other"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "other/file"), "other\n");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
function policy(text: string): string {
  const file = join(folder, `policy-${count++}.yaml`);
  writeFileSync(file, `name: p\n${text}`);
  return file;
}
const floor = async (text: string) => (await loadPolicy(policy(text))).floor;

describe("what a policy permits at most", () => {
  it("is what its rules name, when the rest is refused by default", async () => {
    const rules =
      "rules:\n  - { id: a, allow: read, path: ['/usr/**', /etc/hosts] }\n  - { id: b, allow: write, path: '/w/{x,y}/**' }\n";
    expect(await floor(`default: deny\n${rules}`)).toEqual({
      read: [
        { path: "/usr", exact: false },
        { path: "/etc/hosts", exact: true },
      ],
      write: [
        { path: "/w/x", exact: false },
        { path: "/w/y", exact: false },
      ],
      connect: [],
      bind: [],
    });
  });
  it("is what comes before a rule that refuses everything of the kind", async () => {
    const rules =
      "rules:\n  - { id: a, allow: write, path: '/w/**' }\n  - { id: b, deny: write }\n  - { id: c, allow: write }\n";
    expect(await floor(rules)).toEqual({ write: [{ path: "/w", exact: false }] });
  });
  it("has no limit where a rule permits without a path, redirects, or asks a person", async () => {
    for (const rule of ["allow: write", "ask: write, reason: r", "redirect: write, path: /a, to: /b"])
      expect(await floor(`default: deny\nrules: [{ id: a, ${rule} }]\n`)).not.toHaveProperty("write");
  });
  it("has no limit where a refusal holds only at times", async () => {
    for (const when of ["when: { nth: 2 }", "user: root", "path: '/a/**'"])
      expect(await floor(`rules: [{ id: a, deny: write, ${when} }]\n`)).toEqual({});
  });
  it("counts every way to permit: narrow effects, classes and calls", async () => {
    for (const what of ["create", "'%file'", "'openat()'", "chmod"])
      expect(
        (await floor(`default: deny\nrules: [{ id: a, allow: ${what}, path: '/w/**' }]\n`))?.write,
      ).toEqual([{ path: "/w", exact: false }]);
  });
  it("knows TCP ports", async () => {
    const text =
      "default: deny\nrules: [{ id: a, allow: connect, address: ['*:443', '10.0.0.1:8000-8002', 'unix:/run/x'] }]\n";
    expect((await floor(text))?.connect).toEqual([443, 8000, 8001, 8002]);
    expect(
      await floor("default: deny\nrules: [{ id: a, allow: connect, address: loopback }]\n"),
    ).not.toHaveProperty("connect");
  });
});

describe("the strict fence under a policy", () => {
  const run = (script: string, file: string) =>
    capture(["sh", "-c", script], { fence: "strict", policy: file, cwd: work });

  it("lets be written what the policy does, also outside of the workspace", async () => {
    const file = policy(
      `rules:\n  - { id: a, allow: write, path: ['${folder}/other/**', '/dev/null'] }\n  - { id: b, deny: write }\n`,
    );
    const script =
      "echo new > ../other/new && cat ../other/new; (echo x > x) 2>/dev/null || echo refused; echo x > /dev/null && echo device";
    expect((await run(script, file)).output).toBe("new\nrefused\ndevice\n");
  });

  it("holds where the doors do not look: a policy that no door serves any more still has its floor", async () => {
    const { Fence } = await import("../../../src/kernel/fence/fence.js");
    const loaded = await loadPolicy(
      policy(
        `default: deny\nrules:\n  - { id: a, allow: read, path: ['/usr/**', /] }\n  - { id: e, allow: exec }\n`,
      ),
    );
    const fenced = {
      workspace: work,
      cwd: work,
      program: "/bin/sh",
      env: {},
      ours: [],
      shown: [],
      landlock: 7,
    };
    const { plan } = new Fence({ level: "strict" }, [loaded], fenced);
    const readFile = 1n << 2n;
    const readable = plan.pathRules.filter(({ access }) => access & readFile).map(({ path }) => path);
    expect(readable).toContain("/usr");
    expect(readable).not.toContain("/");
    expect(plan.handledFiles & readFile).toBe(readFile);
    expect(plan.handledFiles & 1n, "executing is the policy's business").toBe(0n);
    expect(plan.handledPorts).toBe(3n);
  });

  it("runs programs under the policies that ship", async () => {
    for (const name of ["untrusted", "workspace", "readonly", "secrets", "no-network", "agent"]) {
      const file = join(root, "policies", `${name}.yaml`);
      const { output, session } = await capture(["cat", "/etc/os-release"], {
        fence: "strict",
        policy: file,
        cwd: work,
      });
      expect(output, `${name}: ${JSON.stringify(session.summary.decisions)}`).toMatch(/NAME/);
      expect(session.protections.missing).toEqual([]);
    }
  });

  describe("and TCP ports", () => {
    let server: Server;
    let port: number;
    beforeAll(async () => {
      server = createServer((socket) => socket.end("hello\n"));
      await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
      port = (server.address() as { port: number }).port;
    });
    afterAll(() => server.close());
    it("reaches those that the policy names", async () => {
      const file = policy(
        `rules:\n  - { id: a, allow: connect, address: '127.0.0.1:${port}' }\n  - { id: b, deny: connect }\n`,
      );
      const script = `import socket; print(socket.create_connection(("127.0.0.1", ${port})).recv(9).decode(), end="")`;
      const fence = { level: "strict", network: "host" } as const;
      expect((await capture(["python3", "-c", script], { fence, policy: file, cwd: work })).output).toBe(
        "hello\n",
      );
    });
  });
});

describe("a policy that takes over while the program runs", () => {
  it("must lie within what the fence was made of", async () => {
    const narrow = commonFloor([
      await loadPolicy(policy("default: deny\nrules: [{ id: a, allow: read, path: '/usr/lib/**' }]\n")),
    ]);
    const wide = commonFloor([
      await loadPolicy(policy("default: deny\nrules: [{ id: a, allow: read, path: '/usr/**' }]\n")),
    ]);
    expect(within(narrow, wide)).toBe(true);
    expect(within(wide, narrow)).toBe(false);
    expect(within({}, wide)).toBe(false);
    expect(within(wide, {})).toBe(true);
  });
});

describe("a kernel with an older Landlock", () => {
  it("has the floor's files without its ports", async () => {
    const { Fence } = await import("../../../src/kernel/fence/fence.js");
    const text =
      "default: deny\nrules: [{ id: a, allow: connect, address: '*:443' }, { id: b, allow: write, path: '/usr/**' }]\n";
    const fenced = {
      workspace: work,
      cwd: work,
      program: "/bin/sh",
      env: {},
      ours: [],
      shown: [],
      landlock: 3,
    };
    const fence = new Fence({ level: "strict" }, [await loadPolicy(policy(text))], fenced);
    expect(fence.plan.handledFiles).not.toBe(0n);
    expect(fence.plan.handledPorts).toBe(0n);
    expect(fence.report({ inForce: fence.plan.wanted, errnos: [], detail: 0 }).missing).toEqual([]);
    expect(() => new Fence({ connectPorts: [443] }, [], fenced)).toThrow(/TCP ports need version 4/);
  });
});
