import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dnsAnswers, serverName } from "../../../src/offline/analyze/host-names.js";
import { hermes } from "../../support/cli.js";
import { Scene } from "./scene.js";

const SCRIPT = `import os, socket, subprocess, threading
os.makedirs('FOLDER/out'); open('FOLDER/out/a', 'w').write('x' * 1000); open('FOLDER/out/b', 'w').write('y')
os.rename('FOLDER/out/b', 'FOLDER/out/c'); os.unlink('FOLDER/out/c'); open('FOLDER/out/a').read()
t = threading.Thread(target=lambda: None); t.start(); t.join()
subprocess.run(['sh', '-c', 'cat /etc/hostname > /dev/null; exit 3'])
s = socket.create_connection(('127.0.0.1', PORT)); s.sendall(b'GET / HTTP/1.1\\r\\nHost: example.org\\r\\n\\r\\n'); s.recv(100); s.close()
try: open('FOLDER/.ssh/id_rsa')
except OSError: pass
l = socket.socket(); l.bind(('127.0.0.1', 0)); l.listen()
c = socket.create_connection(l.getsockname()); a, _ = l.accept(); c.sendall(b'z' * 500); a.recv(1000)
`;

let scene: Scene;
// biome-ignore lint/suspicious/noExplicitAny: the report as its readers see it
let report: any;
beforeAll(async () => {
  scene = await Scene.make();
  const policy = scene.file(
    "p.yaml",
    `name: p\nrules: [{ id: keys, deny: read, path: "**/id_rsa", errno: ENOENT }]\n`,
  );
  report = await scene.report(SCRIPT, ["-p", policy]);
});
afterAll(() => scene.close());

describe("hermes analyze", () => {
  it("tells the process tree with lifetimes, threads and ends", () => {
    const [python, ...others] = report.processes;
    expect(python).toMatchObject({
      name: expect.stringMatching(/^python3/),
      code: 0,
      threads: 2,
      running: false,
    });
    const shell = others.find((p: { name: string; code: number }) => p.code === 3);
    expect(shell.parent).toBe(python.id);
    expect(shell.started).toBeGreaterThan(python.started);
    expect(shell.ended).toBeLessThanOrEqual(python.ended);
    expect(report.processes.filter((p: { parent?: number }) => p.parent === undefined)).toHaveLength(1);
    expect(
      report.processes.some(
        (p: { name: string; parent: number }) => p.name === "cat" && p.parent === shell.id,
      ),
    ).toBe(true);
  });

  it("tells which files were read, written and deleted, by folder and with bytes", () => {
    const folder = report.files.folders.find((f: { folder: string }) => f.folder === `${scene.folder}/out`);
    expect(folder).toMatchObject({
      files: 3,
      read: 1,
      written: 3,
      deleted: 2,
      bytesWritten: 1001,
      bytesRead: 1000,
    });
    expect(report.files.list.find((f: { path: string }) => f.path === "/etc/hostname")).toMatchObject({
      reads: 1,
      by: [expect.stringMatching(/cat$/)],
    });
  });

  it("tells who was talked to, by which name, and how much", () => {
    const peers = report.network.peers as { address: string; direction: string; local?: string }[];
    expect(peers.find((p) => p.address === `127.0.0.1:${scene.port}`)).toMatchObject({
      direction: "out",
      contacts: 1,
      names: ["example.org"],
      bytesOut: 37,
      bytesIn: 6,
    });
    expect(peers.find((p) => p.direction === "in")).toMatchObject({
      address: "127.0.0.1",
      contacts: 1,
      bytesIn: 500,
    });
    expect(report.network.listening).toHaveLength(1);
  });

  it("tells programs, secrets, refusals by rule, errors, slow calls and where the time went", () => {
    expect(report.programs.map((p: { exe: string }) => p.exe.replace(/.*\//, ""))).toEqual(
      expect.arrayContaining(["cat", expect.stringMatching(/^(ba|da)sh$/)]),
    );
    expect(report.secrets).toMatchObject([
      { path: `${scene.folder}/.ssh/id_rsa`, kind: "keyrings", count: 1, failed: 1 },
    ]);
    expect(report.decisions).toMatchObject([{ action: "deny", rule: "keys", policy: "p", count: 1 }]);
    expect(
      report.errors.find((e: { call: string; errno: string }) => e.call === "openat" && e.errno === "ENOENT")
        .count,
    ).toBeGreaterThan(0);
    expect(report.slowest.length).toBeGreaterThan(5);
    const { lived, kernel, waiting, own } = report.time;
    expect(kernel + waiting + own).toBeGreaterThanOrEqual(lived * 0.99);
    expect(report.latency.all.reduce((a: number, b: number) => a + b)).toBeGreaterThan(100);
    expect(report.trace).toMatchObject({ complete: true, exitCode: 0, dropped: 0 });
  });

  it("prints all of it for a person, and no control characters of hostile names", async () => {
    scene.file("evil\u001b[31m\nname", "x");
    const { stdout, status } = await (async () => {
      await scene.hermes(["run", "-q", "-t", scene.trace, "--", "cat", "evil\u001b[31m\nname"]);
      return scene.hermes(["analyze", scene.trace]);
    })();
    expect(status).toBe(0);
    expect(stdout).toMatch(/Processes \(1\)\n {2}cat \(\d+\) 0\.000 s – /);
    expect(stdout).toContain("evil\\u{1b}[31m\\nname");
    expect(stdout).not.toContain("\u001b");
  });

  it("reads cut-off traces and says so; refuses what is none", () => {
    const cut = scene.file(
      "cut.jsonl",
      '{"kind":"syscall","time":1,"pid":1,"tid":1,"name":"getpid","args":{},"action":"allow","result":1}\n{"kind":"sys',
    );
    const { status, stdout } = hermes(["analyze", cut]);
    expect([status, stdout]).toEqual([0, expect.stringContaining("not complete")]);
    const wrong = hermes(["analyze", scene.file("no.jsonl", "hello\nworld\n")]);
    expect([wrong.status, wrong.stderr]).toEqual([125, expect.stringContaining("no.jsonl")]);
    expect(hermes(["analyze", `${scene.folder}/nothing`]).stderr).toContain("ENOENT");
    expect(hermes(["analyze"]).status).toBe(2);
  });
});

describe("names of peers", () => {
  it("are read from answers of name servers", () => {
    const message = Buffer.from(
      "1234818000010002000000000765786d61706c65036f72670000010001c00c000100010000003c00045db8d822c00c001c00010000003c001020010db8000000000000000000000001",
      "hex",
    );
    expect(dnsAnswers(message)).toEqual([
      { name: "exmaple.org", host: "93.184.216.34" },
      { name: "exmaple.org", host: "2001:db8::1" },
    ]);
    for (let length = 0; length < message.length; length++) dnsAnswers(message.subarray(0, length));
    expect(dnsAnswers(Buffer.from("12348180000100010000000001c00cc00c", "hex"))).toEqual([]);
  });

  it("are read from TLS hellos, and nothing breaks on those that are cut", () => {
    const name = Buffer.from("example.org");
    const extension = Buffer.concat([
      Buffer.from([0, 0, 0, name.length + 5, 0, name.length + 3, 0, 0, name.length]),
      name,
    ]);
    const hello = Buffer.concat([
      Buffer.from([0x16, 3, 1, 0, 0, 1, 0, 0, 0, 3, 3]),
      Buffer.alloc(32),
      Buffer.from([0, 0, 2, 0x13, 1, 1, 0, 0, extension.length]),
      extension,
    ]);
    expect(serverName(hello)).toBe("example.org");
    for (let length = 0; length < hello.length; length++)
      expect(serverName(hello.subarray(0, length))).toBeUndefined();
  });
});
