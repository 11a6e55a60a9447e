import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Scene } from "./scene.js";

let scene: Scene;
beforeAll(async () => {
  scene = await Scene.make();
});
afterAll(() => scene.close());

interface Found {
  pattern: string;
  severity: string;
  title: string;
  evidence: { text: string; pid: number; time: number }[];
}

const IMPORTS = "import os, socket, subprocess, time\n";
const CONNECT =
  "s = socket.create_connection(('127.0.0.1', PORT)); s.sendall(b'hello'); s.recv(10); s.close()\n";

/** What a script does, what must be found in it, and what its evidence must name. */
const BEHAVIOUR: readonly (readonly [pattern: string, script: string, evidence: readonly RegExp[]])[] = [
  [
    "credential-then-connect",
    `open('FOLDER/.ssh/id_rsa').read()\n${CONNECT}`,
    [/id_rsa/, /connect 127\.0\.0\.1/],
  ],
  [
    "credential-then-connect",
    `subprocess.run(['cat', 'FOLDER/.ssh/id_rsa'], capture_output=True)\n${CONNECT}`,
    [/id_rsa/, /connect/],
  ],
  [
    "write-then-exec",
    "open('FOLDER/new', 'wb').write(open('/bin/true', 'rb').read()); os.chmod('FOLDER/new', 0o755)\nsubprocess.run(['FOLDER/new'])",
    [/open.*new/, /exec.*new/],
  ],
  [
    "download-then-exec",
    `${CONNECT}open('FOLDER/part', 'w').write('#!/bin/sh\\n'); os.rename('FOLDER/part', 'FOLDER/got'); os.chmod('FOLDER/got', 0o755)\nsubprocess.run(['FOLDER/got'])`,
    [/open.*part/, /exec.*got/],
  ],
  ["self-deletion", "os.unlink('FOLDER/script.py')", [/unlink.*script\.py/]],
  [
    "exec-from-memory",
    "fd = os.memfd_create('x', 0); os.write(fd, open('/bin/true', 'rb').read())\nsubprocess.run([f'/proc/self/fd/{fd}'], pass_fds=[fd])",
    [/exec/],
  ],
  [
    "port-scan",
    "for port in range(20, 45):\n  s = socket.socket(); s.connect_ex(('127.0.0.1', port)); s.close()",
    [/connect 127\.0\.0\.1:20/],
  ],
  [
    "remote-shell",
    "s = socket.create_connection(('127.0.0.1', PORT)); s.sendall(b'x')\nos.dup2(s.fileno(), 0); os.execv('/bin/sh', ['sh', '-c', 'true'])",
    [/dup2/, /exec.*sh -c true/],
  ],
  [
    "persistence",
    "os.makedirs('FOLDER/.config/autostart'); open('FOLDER/.config/autostart/x.desktop', 'w').write('x')",
    [/autostart/],
  ],
  [
    "covered-tracks",
    "open('FOLDER/.bash_history', 'w').write('x'); os.unlink('FOLDER/.bash_history')",
    [/bash_history/],
  ],
  [
    "failed-opens",
    "for i in range(300):\n  try: open(f'FOLDER/guess{i}')\n  except OSError: pass",
    [/guess.*ENOENT/],
  ],
  [
    "looks-into-others",
    "open(f'/proc/{os.getppid()}/environ').read() if os.path.exists(f'/proc/{os.getppid()}') else 0\nopen('/proc/1/maps')",
    [/proc/],
  ],
];

describe("hermes analyze finds", () => {
  for (const [i, [pattern, script, evidence]] of BEHAVIOUR.entries())
    it(`${pattern} (${i}), with the calls that prove it`, async () => {
      const { findings } = await scene.report(IMPORTS + script);
      const found = (findings as Found[]).find((f) => f.pattern === pattern);
      expect(found, JSON.stringify(findings)).toBeDefined();
      for (const proof of evidence) expect(found!.evidence.map((e) => e.text).join("\n")).toMatch(proof);
      expect(found!.evidence.every((e) => e.pid > 0 && e.time > 0)).toBe(true);
    });

  it("probing: what goes on after refusals", async () => {
    const policy = scene.file(
      "deny.yaml",
      `name: p\nrules: [{ id: none, deny: read, path: "${scene.folder}/closed*" }]\n`,
    );
    const { findings, decisions } = await scene.report(
      "for i in range(12):\n  try: open(f'FOLDER/closed{i}')\n  except OSError: pass",
      ["-p", policy],
    );
    expect(findings.map((f: Found) => f.pattern)).toContain("probing");
    expect(decisions[0]).toMatchObject({
      action: "deny",
      policy: "p",
      rule: "none",
      call: "openat",
      count: 12,
    });
  });

  it("beaconing: contacts at a steady pace, and not those that come as they come", async () => {
    const trace = (gaps: readonly number[]) => {
      let time = 1e9;
      return gaps
        .map((gap) => {
          time += gap;
          return JSON.stringify({
            kind: "syscall",
            time,
            pid: 7,
            tid: 7,
            name: "connect",
            args: { fd: 3, addr: "192.0.2.1:443" },
            target: "socket:[1]",
            action: "allow",
            result: 0,
          });
        })
        .join("\n");
    };
    const patterns = async (gaps: readonly number[]) => {
      const { stdout } = await scene.hermes(["analyze", "--json", scene.file("beacon.jsonl", trace(gaps))]);
      return JSON.parse(stdout).findings.map((f: Found) => `${f.pattern}: ${f.title}`);
    };
    expect(await patterns([0, 60, 61, 59, 60, 62])).toEqual([
      "beaconing: 192.0.2.1:443 was contacted 6 times, every 60 s (± 2 %)",
    ]);
    expect(await patterns([0, 1, 300, 2, 45, 9])).toEqual([]);
    expect(await patterns([0, 0.001, 0.001, 0.001, 0.001, 0.001])).toEqual([]);
  });

  it("nothing in an ordinary program", async () => {
    const { findings } = await scene.report(
      `${IMPORTS}import json\nopen('FOLDER/out.json', 'w').write(json.dumps([1]))\nsubprocess.run(['ls', '/'], capture_output=True)\n${CONNECT}`,
    );
    expect(findings).toEqual([]);
  });
});
