import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { hermes } from "../../support/cli.js";

/** Every action, carried out on a real program. */

const base = realpathSync(mkdtempSync(join(tmpdir(), "hermes-real-")));
let folder: string;
let count = 0;
beforeEach(() => {
  folder = join(base, String(count++));
  mkdirSync(folder);
  writeFileSync(join(folder, "file"), "real\n");
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

function run(rules: readonly string[], script: string, policyName = "p.yaml") {
  const file = join(folder, policyName);
  writeFileSync(
    file,
    `name: p\nrules:\n${rules.map((rule, i) => `  - { id: r${i + 1}, ${rule} }\n`).join("")}`,
  );
  const done = hermes(["run", "--json", "--ask", "no", "-p", file, "--", "sh", "-c", script], {
    cwd: folder,
  });
  const json = done.stderr.split("\n").findLast((line) => line.startsWith("{"));
  return { ...done, result: json ? JSON.parse(json) : undefined };
}

const PERL_CONNECT = (host: string, port: number) =>
  `perl -MSocket -e 'socket(S, 2, 1, 0); connect(S, sockaddr_in(${port}, inet_aton(q{${host}}))) or print "$!\\n"'`;

describe("on a real program", () => {
  test("deny gives the error that the rule names", () => {
    const { stdout, stderr } = run([`deny: read, path: ${folder}/file, errno: EIO`], "cat file; echo on");
    expect(stdout).toBe("on\n");
    expect(stderr).toContain("Input/output error");
  });

  test("kill ends it", () => {
    const { result } = run(["kill: mkdir"], "exec mkdir d");
    expect(result.signal).toBe("SIGKILL");
  });

  test("ask is refused where no approver can be reached", () => {
    const { stderr, result } = run(["ask: exec, argv: [ls], reason: Sure?"], "ls");
    expect(stderr).toContain("Permission denied");
    expect(result.summary.decisions[0].reason).toContain("Sure?");
  });

  test("redirect reads another file, and what is below another folder", () => {
    mkdirSync(join(folder, "tree/a"), { recursive: true });
    writeFileSync(join(folder, "tree/a/f"), "below\n");
    writeFileSync(join(folder, "other"), "other\n");
    const rules = [
      "redirect: read, path: ./file, to: ./other",
      'redirect: [read, stat], path: "/no/such/**", to: "./tree/**"',
    ];
    expect(run(rules, "cat file /no/such/a/f").stdout).toBe("other\nbelow\n");
  });

  test("redirect connects elsewhere", () =>
    expect(
      run(["redirect: connect, address: 10.9.9.9, to: 127.0.0.1:1"], PERL_CONNECT("10.9.9.9", 80)).stdout,
    ).toBe("Connection refused\n"));

  test("modify changes arguments and data", () => {
    const rules = [
      "modify: [mkdir(), mkdirat], args: { mode: 0o700 }",
      'modify: write, path: ./log, data: "hidden\\n"',
    ];
    expect(run(rules, "umask 0; mkdir d; stat -c %a d; echo secret > log; cat log").stdout).toBe(
      "700\nhidden\n",
    );
    expect(readFileSync(join(folder, "log"), "utf8")).toBe("hidden\n");
  });

  test("emulate answers in the kernel's place", () => {
    const rules = [
      "emulate: uname, data: { nodename: build }",
      "emulate: getppid, result: 77",
      'emulate: read, path: /no/file, content: "made up\\n"',
    ];
    expect(run(rules, "uname -n; perl -e 'print getppid(), qq{\\n}'; cat /no/file").stdout).toBe(
      "build\n77\nmade up\n",
    );
  });

  test("fault fails, delays, cuts short and signals", () => {
    const rules = [
      "fault: mkdir, errno: ENOSPC, when: { nth: 2 }",
      "fault: rmdir(), delay: 400ms",
      `fault: read_data, path: ${folder}/file, short: 2`,
    ];
    const script =
      "mkdir a; mkdir b; mkdir c; ls -d ?; s=$(date +%s%N); rmdir a; e=$(date +%s%N); [ $((e - s)) -gt 400000000 ] && echo waited; dd if=file bs=100 count=1 status=none";
    const { stdout, stderr } = run(rules, script);
    expect(stdout).toBe("a\nc\nwaited\nre");
    expect(stderr).toContain("No space left on device");
    expect(run(["fault: mkdir, signal: SIGTERM"], "exec mkdir d").result.signal).toBe("SIGTERM");
  });

  test("what the kernel decides alone is refused without a stop", () => {
    const { stdout, result } = run(
      ["deny: socket, where: { family: AF_INET }, errno: EPROTO"],
      "perl -MSocket -e 'socket(S, 2, 1, 0) or print $!'",
    );
    expect(stdout).toBe("Protocol error");
    expect(result.summary.byCall).not.toHaveProperty("socket");
    expect(result.protections.constantRules).toBe(1);
  });

  test("default: deny lets a program start with the rules of the reference", () => {
    const reference = readFileSync(new URL("../../../docs/reference/yaml.md", import.meta.url), "utf8");
    const strict = /^name: strict[\s\S]*?(?=^```)/m.exec(reference)![0];
    const file = join(folder, "strict.yaml");
    writeFileSync(file, strict);
    const done = hermes(
      [
        "run",
        "--json",
        "-p",
        file,
        "--",
        "sh",
        "-c",
        "read x < file; echo $x; echo y > new; read z < /etc/hostname || echo refused",
      ],
      { cwd: folder },
    );
    expect(done.stdout).toBe("real\nrefused\n");
    expect(readFileSync(join(folder, "new"), "utf8")).toBe("y\n");
  });

  test("a rate holds", () => {
    const { stdout } = run(
      ["deny: mkdir, rate: 2/hour"],
      "for i in 1 2 3 4; do mkdir d$i 2>/dev/null; done; ls -d d?",
    );
    expect(stdout).toBe("d1\nd2\n");
  });

  test("a broken file is told with its line, and the program does not start", () => {
    const { status, stdout, stderr } = run(["dney: read"], "echo started");
    expect([status, stdout]).toEqual([125, ""]);
    expect(stderr).toMatch(/p\.yaml:3:15: unknown key `dney`: did you mean `deny`\?/);
  });
});
