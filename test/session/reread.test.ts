import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "hermes-runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** Calls whose memory the kernel reads again after they were decided on: src/abi/reread.ts. */

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-reread-"));
  mkdirSync(join(folder, "m"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const DOORS = ["auto", "trace"] as const;

async function under(rules: string, command: readonly string[], door: (typeof DOORS)[number]) {
  const file = join(folder, "policy.yaml");
  writeFileSync(file, `name: test\nrules:\n${rules}\n`);
  const output = join(folder, "output");
  const script = `{ ${command.join(" ")}; } > ${output} 2>&1`;
  const result = await run({ command: ["sh", "-c", script], policy: file, door });
  return { ...result, output: execFileSync("cat", [output], { encoding: "utf8" }) };
}

/** Mounts in namespaces of its own, and prints the errno. */
const mounts = () => {
  const steps = [
    "import ctypes as c, errno; l = c.CDLL(None, use_errno=True)",
    "l.unshare(0x10020000)",
    `print(l.mount(b"none", b"${folder}/m", b"tmpfs", 0, None), errno.errorcode.get(c.get_errno()))`,
  ];
  return ["python3", "-c", `'${steps.join("; ")}'`];
};
const SECRET = '  - { id: secret, deny: [read, exec], path: "/nowhere/**", reason: no }';

describe.each(DOORS)("through the %s door", (door) => {
  it("a mount is refused where rules on paths would have to hold it, and the record says why", async () => {
    const { output, summary } = await under(SECRET, mounts(), door);
    expect(output).toBe("-1 EPERM\n");
    expect(JSON.stringify(summary)).toContain("reread");
  });

  it("a mount happens where rules allow it whatever it is, or say nothing of paths", async () => {
    const allowed = `  - { id: mounts, allow: [mount, alias, read, write, exec, namespace] }\n${SECRET}`;
    const calls = '  - { id: away, deny: connect, address: "192.0.2.1", reason: no }';
    for (const rules of [allowed, calls]) {
      expect((await under(rules, mounts(), door)).output).toMatch(/^0 /);
    }
  });

  it("threads are made without clone3 where a rule decides on namespaces", async () => {
    const rules = "  - { id: spaces, deny: namespace, reason: no }";
    const threads = `python3 -c "import threading as t; x=t.Thread(target=print, args=('ran',)); x.start(); x.join()"`;
    expect((await under(rules, [threads], door)).output).toBe("ran\n");
    expect((await under(rules, ["unshare -U true || echo refused"], door)).output).toContain("refused");
  });

  it("a program sets its own limits, and is told those it had", async () => {
    const rules = '  - { id: outside, deny: write, path: "/nowhere/**", reason: no }';
    const limits =
      "import resource as r; hard = r.getrlimit(r.RLIMIT_CORE)[1]; r.setrlimit(r.RLIMIT_CORE, (0, hard)); print(r.prlimit(0, r.RLIMIT_CORE, (0, 0))[0], r.getrlimit(r.RLIMIT_CORE))";
    expect((await under(rules, [`python3 -c '${limits}'`], door)).output).toBe("0 (0, 0)\n");
  });
});

describe("a rule on a text that the kernel reads again", () => {
  it("is an error when it is loaded", async () => {
    const file = join(folder, "text.yaml");
    writeFileSync(file, "name: text\nrules:\n  - { id: m, deny: memfd_create, where: { uname_ptr: x } }\n");
    await expect(run({ command: ["true"], policy: file })).rejects.toThrow(
      /text\.yaml:3.*reads the text of `uname_ptr` again/s,
    );
  });
});
