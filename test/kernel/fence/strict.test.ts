import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePolicy, type RunOptions } from "hermes-runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { capture } from "../../support/calls.js";
import { OrdinaryUser } from "../../support/ordinary-user.js";
import { missingForUser, missingHere } from "./available.js";

/** Each line is a claim of the strict fence: what a program that tries to break it prints. */
const CLAIMS: readonly (readonly [claim: string, script: string, printed: string])[] = [
  ["writes in its workspace", "echo a > file && cat file", "a"],
  [
    "writes in a /tmp of its own, which starts empty of others' files",
    `ls /tmp | grep -c others; echo b > /tmp/b && cat /tmp/b`,
    "0\nb",
  ],
  ["cannot write elsewhere", "touch /etc/hermes-never 2>&1 | grep -c -e Read-only -e denied", "1"],
  [
    "cannot change modes elsewhere",
    "chmod 755 /usr/bin/env 2>&1 | grep -c -e Read-only -e permitted -e denied",
    "1",
  ],
  ["sees no processes but its own", "cat /proc/[0-9]*/comm | grep -c -e node -e hermes-launch", "0"],
  [
    "cannot look into the init above it",
    "cat /proc/1/environ /proc/1/maps 2>/dev/null | wc -c; ls /proc/1/root/ 2>/dev/null | wc -l",
    "0\n0",
  ],
  ["cannot end the init above it", "kill -9 1 2>/dev/null; kill -0 $$ && echo alive", "alive"],
  ["has no capabilities", "grep -c -E '^Cap(Inh|Prm|Eff|Bnd|Amb):.0000000000000000$' /proc/self/status", "5"],
  ["cannot gain privileges", "grep NoNewPrivs /proc/self/status | cut -f2", "1"],
  ["cannot make user namespaces", "unshare -U true 2>/dev/null || echo no", "no"],
  ["cannot mount", "mount -t tmpfs none /tmp 2>/dev/null || echo no", "no"],
  [
    "cannot change the kernel's settings",
    'f=/proc/sys/kernel/core_pattern; read x < $f; (echo "$x" > $f) 2>/dev/null || echo no',
    "no",
  ],
  ["has a loopback and no other network", "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '", "lo"],
  [
    "has no sockets that pass namespaces by: those of virtual machines, devices and the kernel's cipher",
    `python3 -c 'import socket\nfor family in (40, 17, 38, 31, 44):\n  try: socket.socket(family, socket.SOCK_STREAM); print("made")\n  except OSError as e: print(e.errno)' | sort | uniq -c | tr -s ' '`,
    " 5 97",
  ],
  ["cannot rename the host", "hostname other 2>/dev/null || echo no", "no"],
  ["sees no sockets of services", "find /run -type s | wc -l", "0"],
  [
    "sees no devices but harmless ones",
    "find /dev -type b | wc -l; ls /dev/kmsg /dev/mem /dev/fuse 2>/dev/null | wc -l",
    "0\n0",
  ],
  [
    "sees no shared memory of others",
    "cut -c8-10 /proc/sysvipc/shm; ls /dev/shm; echo $?",
    "key\n0", // the table has no line but its head
  ],
  ["has a terminal multiplexer of its own", "ls /dev/pts", "ptmx"],
  ["starts in the same folder with the same user", 'pwd -P | grep -c own; id -u | grep -cx "$WHO"', "1\n1"],
  ["does not see variables that were not passed to it", "env | grep -c -e TOKEN", "0"],
  ["knows the variables that it was given", "echo $KEPT", "kept"],
];

/** Plain data, so that they can be written into another user's script. */
const options = (who: number): Partial<RunOptions> => ({
  fence: { level: "strict", keepEnv: ["KEPT", "WHO"], requires: ["namespaces", "landlock", "capabilities"] },
  env: { PATH: process.env.PATH, TOKEN: "secret", KEPT: "kept", WHO: String(who) },
});
const SCRIPT = CLAIMS.map(([, script]) => `(${script}) 2>&1; echo =`).join("\n");
const answers = (output: string) =>
  output
    .split("=\n")
    .slice(0, CLAIMS.length)
    .map((text) => text.trimEnd());

const DOORS = {
  "no door": undefined,
  "the notify door": "notify",
  "the trace door": "trace",
} as const;
type Door = (typeof DOORS)[keyof typeof DOORS];

async function tryHere(door: Door): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-fenced-"));
  const others = join("/tmp", `others-${process.pid}`);
  const cwd = join(folder, "own");
  try {
    writeFileSync(others, "");
    mkdirSync(cwd);
    const policy = definePolicy({ name: "every-call", actions: ["deny"], on: { "*"() {} } });
    const more = { cwd, ...(door && { door, policy }) };
    return answers((await capture(["sh", "-c", SCRIPT], { ...options(process.getuid!()), ...more })).output);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(others);
  }
}

function tryAsUser(user: OrdinaryUser, door: Door): string[] {
  const policy = door
    ? `policy: definePolicy({ name: "p", actions: ["deny"], on: { "*"() {} } }), door: "${door}"`
    : "";
  const { stdout } = user.run(`
    import { definePolicy, run } from "./dist/index.js";
    const options = ${JSON.stringify(options(0))};
    options.env.WHO = String(process.getuid());
    await run({ command: ["sh", "-c", ${JSON.stringify(SCRIPT)}], ...options, ${policy} });
  `);
  return answers(stdout);
}

const user = new OrdinaryUser();
afterAll(() => user.remove());
const WHO = {
  "the user who runs the tests": { missing: missingHere(), attempt: tryHere },
  "an ordinary user": { missing: missingForUser(user), attempt: (door: Door) => tryAsUser(user, door) },
};

/** Shared memory of others: without any, a program that sees none would show nothing. */
const shared = spawnSync("ipcmk", ["-M", "4096"], { encoding: "utf8" }).stdout.match(/\d+/)![0];
const sharedFile = `/dev/shm/hermes-test-${process.pid}`;
writeFileSync(sharedFile, "");
afterAll(() => {
  spawnSync("ipcrm", ["-m", shared]);
  rmSync(sharedFile);
});

for (const [who, { missing, attempt }] of Object.entries(WHO)) {
  if (missing.length > 0)
    it(`says to ${who} why this machine has no strict fence`, () => {
      for (const { why } of missing) expect(why).toMatch(/\w/);
    });
  else
    for (const [name, door] of Object.entries(DOORS))
      describe(`under a strict fence and ${name}, a program of ${who}`, () => {
        let printed: string[];
        beforeAll(async () => {
          printed = await attempt(door);
        });
        for (const [i, [claim, , expected]] of CLAIMS.entries())
          it(claim, () => expect(printed[i]).toBe(expected));
      });
}

if (WHO["the user who runs the tests"].missing.length === 0)
  describe("under a strict fence", () => {
    let folder: string;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), "hermes-strict-"));
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    const sh = (script: string, more: Partial<RunOptions> = {}) =>
      capture(["sh", "-c", script], { fence: "strict", cwd: folder, ...more });

    it("a run says what is in force", async () => {
      const { session } = await sh("true");
      expect(session.protections).toMatchObject({ fence: "strict", missing: [] });
      expect(session.protections.inForce).toEqual(
        expect.arrayContaining([
          "pid_namespace",
          "mount_namespace",
          "net_namespace",
          "capabilities",
          "landlock",
        ]),
      );
    });

    it("exit codes and signals are the program's own", async () => {
      expect((await sh("exit 7")).session.exitCode).toBe(7);
      expect((await sh("kill -TERM $$")).session).toMatchObject({ exitCode: 143, signal: "SIGTERM" });
      expect((await sh("/no/such/program")).session.exitCode).toBe(127);
    });

    it("processes that outlive the program are waited for", async () => {
      const { output } = await sh("(sleep 0.3; echo late > late) & exit 0");
      expect(output).toBe("");
      expect((await sh("cat late")).output).toBe("late\n");
    });

    it("a program may signal itself although its policy forbids signals to others", async () => {
      const file = join(folder, "signals.yaml");
      writeFileSync(file, "name: s\nrules: [{ id: s, deny: signal }]\n");
      const { output } = await sh("trap 'echo heard' USR1; kill -USR1 $$; kill -USR1 1 || echo refused", {
        policy: file,
      });
      expect(output).toBe("heard\nrefused\n");
    });

    for (const door of ["notify", "trace"] as const)
      it(`rules on paths hold for links through /proc, as the program sees it, through the ${door} door`, async () => {
        const file = join(folder, "paths.yaml");
        writeFileSync(
          file,
          "name: p\nrules:\n  - { id: own, allow: read, path: /proc/self/status }\n  - { id: secret, deny: read, path: [/etc/passwd, '/proc/*/status'] }\n",
        );
        const tries = [
          "/etc/passwd",
          "/proc/self/root/etc/passwd",
          "/proc/$$/cwd/../../../etc/passwd",
          "/proc/1/status",
        ];
        const script = `head -c4 /proc/self/status; echo; for f in ${tries.join(" ")}; do cat $f 2>/dev/null | wc -c; done`;
        expect((await sh(script, { policy: file, door, cwd: "/usr/lib" })).output).toBe("Name\n0\n0\n0\n0\n");
      });

    it("the policy and the trace of the run are hidden from it, and cannot be replaced", async () => {
      mkdirSync(join(folder, "deep/er"), { recursive: true });
      const policy = join(folder, "deep/er/policy.yaml");
      writeFileSync(policy, "name: hidden\nrules: [{ id: x, deny: mount }]\n");
      const trace = join(folder, "trace.jsonl");
      const script = [
        "cat deep/er/policy.yaml | wc -c",
        "echo 'name: mine' > deep/er/policy.yaml; cat deep/er/policy.yaml | wc -c",
        "rm -f deep/er/policy.yaml 2>/dev/null || echo kept",
        "mv deep gone 2>/dev/null || echo kept; mv deep/er gone 2>/dev/null || echo kept",
        "echo x > trace.jsonl; cat trace.jsonl | wc -c",
      ].join("\n");
      const { output, session } = await sh(script, { policy, trace });
      expect(output).toBe("0\n0\nkept\nkept\nkept\n0\n");
      expect(session.trace?.complete).toBe(true);
      expect(session.reloads).toBe(0);
    });

    it("virtual files and redirected paths are seen", async () => {
      const policy = join(folder, "virtual.yaml");
      writeFileSync(
        policy,
        "name: v\nrules:\n  - { id: v, emulate: read, path: /made/up, content: made up }\n  - { id: r, redirect: read, path: /else, to: /etc/hostname }\n",
      );
      const { output } = await sh("cat /made/up; cat /else | wc -l", { policy });
      expect(output).toBe("made up1\n");
    });

    it("what is hidden is not there, also when it lies in the workspace", async () => {
      mkdirSync(join(folder, "secrets"), { recursive: true });
      writeFileSync(join(folder, "secrets/key"), "key");
      writeFileSync(join(folder, "token"), "token");
      const hidden = ["secrets", "token"];
      const { output } = await sh("ls secrets | wc -l; cat token | wc -c", {
        fence: { level: "strict", hidden },
      });
      expect(output).toBe("0\n0\n");
    });

    it("started in the root directory it may write nowhere but in its private folders", async () => {
      const script = "touch /usr/x 2>/dev/null || echo refused; touch /tmp/x && echo private";
      expect((await sh(script, { cwd: "/" })).output).toBe("refused\nprivate\n");
    });

    it("the host's network is there when it is asked for", async () => {
      const count = "tail -n +3 /proc/net/dev | wc -l";
      const bare = (await capture(["sh", "-c", count])).output;
      expect((await sh(count, { fence: { level: "strict", network: "host" } })).output).toBe(bare);
    });

    it("a working directory that is private is seen, read-only", async () => {
      const elsewhere = mkdtempSync(join(tmpdir(), "hermes-cwd-"));
      try {
        const fence = { level: "strict", writable: [folder] } as const;
        const { output } = await sh("pwd -P; touch x 2>/dev/null || echo no", { fence, cwd: elsewhere });
        expect(output).toBe(`${elsewhere}\nno\n`);
      } finally {
        rmSync(elsewhere, { recursive: true, force: true });
      }
    });
  });
