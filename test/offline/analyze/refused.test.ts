import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Scene } from "./scene.js";

let scene: Scene;
beforeAll(async () => {
  scene = await Scene.make();
  mkdirSync(join(scene.folder, ".config/autostart"), { recursive: true });
});
afterAll(() => scene.close());

interface Found {
  pattern: string;
  severity: string;
  title: string;
  evidence: { text: string }[];
}

const RULES = `name: p
rules:
  - { id: keys, deny: read, path: "**/.ssh/**", errno: ENOENT }
  - { id: login, deny: write, path: "**/autostart/**" }
  - { id: net, deny: connect, address: internet }
  - { id: programs, deny: exec, path: "**/tool" }
  - { id: plain, deny: read, path: "**/closed*" }
`;

async function findings(script: string): Promise<Found[]> {
  const policy = scene.file("p.yaml", RULES);
  const body = script.split("\n").map((line) => `try: ${line}\nexcept OSError: pass`);
  const report = await scene.report(`import os, socket, subprocess\n${body.join("\n")}\n`, ["-p", policy]);
  return report.findings;
}

describe("a refused attempt is a finding", () => {
  it.each([
    ["alert", "open('FOLDER/.ssh/id_rsa')", "read the secret FOLDER/.ssh/id_rsa: refused by p/keys"],
    [
      "alert",
      "open('FOLDER/.config/autostart/x.desktop', 'w')",
      "write what runs at every start: FOLDER/.config/autostart/x.desktop: refused by p/login",
    ],
    ["alert", "socket.create_connection(('192.0.2.1', 80))", "connect to 192.0.2.1:80: refused by p/net"],
    [
      "alert",
      "socket.create_connection(('169.254.169.254', 80))",
      "get the machine's credentials from 169.254.169.254:80: refused by p/net",
    ],
    ["warning", "subprocess.run(['FOLDER/tool'])", "run FOLDER/tool: refused by p/programs"],
    ["notice", "open('FOLDER/closed')", "read FOLDER/closed: refused by p/plain"],
  ])("%s: %s", async (severity, script, title) => {
    const found = await findings(script);
    const attempts = found.filter(({ pattern }) => pattern === "refused-attempt");
    expect(attempts.map((one) => `${one.severity}: ${one.title}`)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^${severity}: python3[\\d.]* tried to ${title.replaceAll("FOLDER", scene.folder).replace(/[.]/g, "\\.")}$`,
        ),
      ),
    ]);
    expect(attempts[0]!.evidence).toHaveLength(1);
    // It is told once: it did not happen, so no other pattern has it.
    expect(found).toHaveLength(1);
  });

  it("comes before what happened, and many are one", async () => {
    const keys = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ed25519"];
    const found = await findings(
      [
        "open('FOLDER/.bash_history', 'w')",
        "os.unlink('FOLDER/.bash_history')",
        ...keys.map((key) => `open('FOLDER/.ssh/${key}')`),
      ].join("\n"),
    );
    expect(found[0]).toMatchObject({ pattern: "refused-attempt", severity: "alert" });
    expect(found[0]!.title).toMatch(
      /id_rsa, .*id_dsa, .*id_ecdsa and 1 more \(5 times\): refused by p\/keys$/,
    );
    expect(found[1]).toMatchObject({ pattern: "covered-tracks", severity: "alert" });
  });

  it("is told of the system too, where it keeps a secret", async () => {
    const trace = JSON.stringify({
      kind: "syscall",
      time: 1e9,
      pid: 7,
      tid: 7,
      name: "openat",
      args: { dirfd: "AT_FDCWD", path: "/etc/shadow", flags: "O_RDONLY", mode: 0 },
      path: "/etc/shadow",
      action: "allow",
      result: -13,
      errno: "EACCES",
    });
    const { stdout } = await scene.hermes(["analyze", "--json", scene.file("shadow.jsonl", trace)]);
    expect(JSON.parse(stdout).findings).toMatchObject([
      {
        severity: "warning",
        title: "process 7 tried to read the secret /etc/shadow: refused by the system (EACCES)",
      },
    ]);
  });
});

describe("what a package manager ordinarily does", () => {
  it("is a notice with its reason: npm reads its token, asks its registry", async () => {
    const home = join(scene.folder, "home");
    mkdirSync(home);
    writeFileSync(join(home, ".npmrc"), "//127.0.0.1/:_authToken=x\n");
    await scene.hermes([
      ...["run", "--quiet", "--trace", scene.trace, "--env", `HOME=${home}`, "--"],
      ...["npm", "view", "x", "--registry", `http://127.0.0.1:${scene.port}`, "--fetch-retries=0"],
    ]);
    const { stdout } = await scene.hermes(["analyze", "--json", scene.trace]);
    const found: Found[] = JSON.parse(stdout).findings;
    expect(found.filter(({ severity }) => severity !== "notice")).toEqual([]);
    const told = found.filter(({ pattern }) => pattern === "credential-then-connect");
    expect(told.map(({ title }) => title)).toEqual([
      expect.stringMatching(/ordinary: it reads its configuration, with the registry's token/),
    ]);
  });
});

describe("shares of time", () => {
  it("are of all threads: ten that wait are no 1,000 %", async () => {
    const { time } = await scene.report(
      "import threading, time\nall = [threading.Thread(target=time.sleep, args=(0.3,)) for _ in range(10)]\n[t.start() for t in all]; [t.join() for t in all]",
    );
    expect(time.waiting).toBeGreaterThan(3);
    expect(time.lived).toBeGreaterThanOrEqual(time.waiting + time.kernel);
    expect(time.own).toBeCloseTo(time.lived - time.waiting - time.kernel, 6);
  });
});
