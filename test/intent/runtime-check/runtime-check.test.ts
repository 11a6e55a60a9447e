import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  answering,
  execIn,
  makePlace,
  type Output,
  type Place,
  toolboxIn,
} from "../../agents/tools/place.js";

/**
 * Scripts that do what their text does not say. The guard allows each of them as text, or cannot read what it runs;
 * the runtime check stops it.
 */
let place: Place;
let server: Server;
let port: number;

beforeEach(async () => {
  place = makePlace();
  place.write("home/.ssh/id_ed25519", "THE KEY");
  place.write("workspace/.env", "TOKEN=abc");
  server = createServer((socket) => socket.end("reached"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as { port: number }).port;
});
afterEach(() => void server.close());

/** What a Python program that the agent wrote sees for each of these. */
async function tried(
  lines: Readonly<Record<string, string>>,
  options = {},
): Promise<{ said: Record<string, string>; output: Output }> {
  const program = [
    "import os, subprocess, socket, sys",
    "def t(name, f):",
    "    try: print(name, '=', f(), flush=True)",
    "    except BaseException as e: print(name, '=', type(e).__name__, flush=True)",
    ...Object.entries(lines).map(([name, code]) => `t(${JSON.stringify(name)}, lambda: ${code})`),
  ].join("\n");
  place.write("workspace/work.txt", program);
  const toolbox = await toolboxIn(place, options);
  const { status, reason, output } = await execIn(toolbox, "python3 work.txt");
  expect([status, reason]).toEqual(["DONE", undefined]);
  const said = Object.fromEntries(
    output.stdout
      .trim()
      .split("\n")
      .map((line: string) => line.split(" = ")),
  );
  return { said, output };
}

const REFUSED = "PermissionError";
const rulesOf = (output: Output): string[] => output.refused.map(({ rule }: { rule: string }) => rule);

describe("a run is held to what it was judged as", () => {
  it("all that it runs: words that are hard-blocked are refused, however they came about", async () => {
    const { said, output } = await tried({
      delete: "subprocess.run(['rm', '-rf', '/'])",
      joined: "subprocess.run(['r' + 'm', '-' + 'rf', chr(47)])",
      shell: "subprocess.run('x=rm; $x -rf /', shell=True)",
      renamed: "(os.symlink('/bin/rm', 'tidy'), subprocess.run(['./tidy', '-rf', '/']))",
      called: "subprocess.run(['ls', '-rf', '/'], executable='/bin/rm')",
      push: "subprocess.run(['git', '-c', 'a.b=c', 'push', 'origin'])",
      sudo: "subprocess.run(['sudo', '-n', 'true'])",
      power: "subprocess.run(['shutdown', '-h', 'now'])",
      env: "subprocess.run(['printenv'])",
      wrapped: "subprocess.run(['env', 'nice', 'timeout', '5', 'rm', '-rf', '/'])",
      fine: "subprocess.run(['ls'], stdout=subprocess.DEVNULL).returncode",
    });
    const { fine, ...rest } = said;
    expect(fine).toBe("0");
    for (const [name, what] of Object.entries(rest)) expect([name, what]).toEqual([name, REFUSED]);
    expect(rulesOf(output)).toEqual(
      expect.arrayContaining(["delete-everything", "publish", "privilege", "power", "secret-dump"]),
    );
  });

  it("decides on the connected address, not on the name", async () => {
    const dial = (host: string, to: number) =>
      `socket.create_connection((${JSON.stringify(host)}, ${to}), 2).recv(9)`;
    const { said, output } = await tried({
      metadata: dial("169.254.169.254", 80),
      mapped: dial("::ffff:169.254.169.254", 80),
      loopback: dial("127.0.0.1", port),
      any: dial("0.0.0.0", port),
      name: dial("localhost", port),
      privately: dial("10.1.2.3", 80),
      datagram: "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.168.1.1', 9))",
      own: "(lambda s: (s.bind(('127.0.0.1', 0)), s.listen(), socket.create_connection(s.getsockname(), 2), 'yes')[3])(socket.socket())",
    });
    const { own, ...rest } = said;
    expect(own).toBe("yes");
    for (const [name, what] of Object.entries(rest)) expect([name, what]).toEqual([name, REFUSED]);
    expect(rulesOf(output)).toEqual(expect.arrayContaining(["loopback", "private"]));
  });

  it("refuses a foreign port also when the agent listens on the same port of another address, or on all", async () => {
    const listen = (host: string) => `socket.socket().bind((${JSON.stringify(host)}, ${port}))`;
    const both = (host: string) =>
      `(lambda s: (s.bind((${JSON.stringify(host)}, ${port})), s.listen(), socket.create_connection(("127.0.0.1", ${port}), 2).recv(9))[2])(socket.socket())`;
    const { said } = await tried({
      bound: `${listen("127.0.0.3")} or socket.create_connection(("127.0.0.1", ${port}), 2).recv(9)`,
      beside: both("127.0.0.2"),
      six: `(lambda s: (s.bind(("::1", ${port})), s.listen(), socket.create_connection(("127.0.0.1", ${port}), 2).recv(9))[2])(socket.socket(socket.AF_INET6))`,
      mine: `(lambda s: (s.bind(("127.0.0.4", ${port})), s.listen(), socket.create_connection(("127.0.0.4", ${port}), 2), "yes")[3])(socket.socket())`,
    });
    expect(said).toEqual({ bound: REFUSED, beside: REFUSED, six: REFUSED, mine: "yes" });
  });

  it("refuses redirects to a foreign port: curl, python and node get nothing", async () => {
    const toolbox = await toolboxIn(place, { approvers: [answering("once")] });
    const redirect = `import http.server as h
class H(h.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(302); self.send_header('Location', 'http://127.0.0.1:${port}/'); self.end_headers()
    def log_message(self, *a): pass
s = h.HTTPServer(('127.0.0.1', 0), H)
open('port', 'w').write(str(s.server_port))
s.serve_forever()`;
    place.write("workspace/redirect.txt", redirect);
    await execIn(toolbox, "python3 redirect.txt", { background: true });
    place.write(
      "workspace/get.mjs",
      "fetch('http://127.0.0.1:' + (await import('node:fs')).readFileSync('port')).then((r) => r.text()).then(console.log, () => console.log('node refused'))",
    );
    place.write(
      "workspace/get.txt",
      "import urllib.request\ntry: print(urllib.request.urlopen('http://127.0.0.1:' + open('port').read()).read())\nexcept Exception as e: print('python refused')",
    );
    const { output } = await execIn(
      toolbox,
      "until test -s port; do sleep 0.05; done; read p < port; curl -sSL http://127.0.0.1:$p/ || echo curl refused; python3 get.txt; node get.mjs",
    );
    expect(output.stdout).toBe("curl refused\npython refused\nnode refused\n");
    expect(rulesOf(output)).toContain("loopback");
  });

  it("allows addresses that the configuration allows, also by name", async () => {
    place.write("home/hermes.yaml", `urls: { allow: ["localhost:${port}"] }\n`);
    const { said } = await tried({
      name: `socket.create_connection(("localhost", ${port}), 2).recv(9)`,
      address: `socket.create_connection(("127.0.0.1", ${port}), 2).recv(9)`,
    });
    expect(said).toEqual({ name: "b'reached'", address: "b'reached'" });
  });

  it("all that it opens: secrets are not there, and nothing outside is changed", async () => {
    mkdirSync(join(place.home, "documents"));
    const { said } = await tried(
      {
        key: "open(os.path.expanduser('~/.ssh/id_ed25519')).read()",
        linked: "(os.symlink(os.path.expanduser('~/.ssh'), 'pictures'), open('pictures/id_ed25519').read())",
        env: "open('.e' + 'nv').read()",
        shadow: "open('/etc/shadow').read()",
        write: "open('/etc/hermes-test', 'w')",
        outside: "open(os.path.expanduser('~/documents/x'), 'w')",
        move: "os.rename('work.txt', os.path.expanduser('~/documents/y'))",
        inside: "open('mine', 'w').write('x')",
        hook: "(os.makedirs('.git/hooks'), open('.git/hooks/pre-commit', 'w'))",
      },
      { approvers: [answering("no")] },
    );
    expect(said).toEqual({
      key: "FileNotFoundError",
      linked: "FileNotFoundError",
      env: "FileNotFoundError",
      shadow: REFUSED,
      write: REFUSED,
      outside: REFUSED,
      move: REFUSED,
      inside: "1",
      hook: REFUSED,
    });
  });

  it("refuses signals to foreign processes, and changes of the user", async () => {
    const sibling = spawn("sleep", ["100"]); // another child of the host that is not a run
    const { said, output } = await tried({
      first: "os.kill(1, 0) or os.kill(1, 15)",
      us: `os.kill(${process.pid}, 15)`,
      sibling: `os.kill(${sibling.pid}, 15)`,
      all: "os.kill(-1, 15)",
      own: "(lambda c: (c.terminate(), c.wait())[1])(subprocess.Popen(['sleep', '100']))",
      group:
        "(lambda c: (os.killpg(c.pid, 15), c.wait())[1])(subprocess.Popen(['sleep', '100'], start_new_session=True))",
      user: "os.setuid(65534)",
      groups: "os.setgroups([0])",
      same: "os.setuid(os.getuid())",
    });
    expect(said).toEqual({
      first: REFUSED,
      us: REFUSED,
      sibling: REFUSED,
      all: REFUSED,
      own: "-15",
      group: "-15",
      user: REFUSED,
      groups: REFUSED,
      same: "None",
    });
    expect(sibling.kill()).toBe(true);
    expect(rulesOf(output)).toEqual(expect.arrayContaining(["other-process", "privilege"]));
  });
});

describe("an effect that needs approval", () => {
  const reset = { reset: "subprocess.run(['git', 'reset', '--hard'], stderr=subprocess.DEVNULL).returncode" };

  it("is asked about at the system call, and goes on when an approver says yes", async () => {
    const person = answering("once");
    const { said } = await tried(reset, { approvers: [person] });
    expect(said.reset).toBe("128"); // git ran, and found no repository
    expect(person.asked.map(({ kind, what }) => [kind, what])).toEqual([["DEED", "run git reset --hard"]]);
  });

  it("does not happen when an approver says no, and the program sees a refusal", async () => {
    const { said, output } = await tried(reset, { approvers: [answering("no")] });
    expect(said.reset).toBe(REFUSED);
    expect(rulesOf(output)).toContain("git-destructive");
  });

  it("is not asked about again when it was approved with the command", async () => {
    const person = answering("once");
    const toolbox = await toolboxIn(place, { approvers: [person] });
    const { output } = await execIn(toolbox, "git init -q . && git reset -q --hard; echo $?");
    expect(output.stdout).toMatch(/^\d+\n$/);
    expect(person.asked.map(({ kind }) => kind)).toEqual(["TOOL_CALL"]);
  });

  it("is allowed at the path that the command named, and at no other", async () => {
    mkdirSync(join(place.home, "documents"));
    const toolbox = await toolboxIn(place, { approvers: [answering("once")] });
    const { output } = await execIn(
      toolbox,
      'echo hello > ~/documents/named; python3 -c \'open("../home/documents/other", "w")\'',
    );
    expect(readFileSync(join(place.home, "documents/named"), "utf8")).toBe("hello\n");
    expect(output.stderr).toContain(REFUSED);
  });
});
