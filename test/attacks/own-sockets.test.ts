import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isThere, until } from "../support/until.js";
import { asEachUser, type Shipped, WAYS } from "../support/workspace.js";

/** What a run listens on itself it reaches, from every process of the run: servers, tests, tools that talk to themselves. */

const FAMILY = `
import os, socket
from multiprocessing import Manager
for name in ("relative.sock", os.getcwd() + "/absolute.sock", f"\\0own-of-a-run-{os.getpid()}"):
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
        if name[0] != "\\0" and os.path.exists(name): os.unlink(name)
        s = socket.socket(socket.AF_UNIX, kind)
        s.bind(name)
        if kind != socket.SOCK_DGRAM: s.listen()
        if os.fork() == 0:
            c = socket.socket(socket.AF_UNIX, kind)
            c.connect(name)
            c.send(b"from a child")
            os._exit(0)
        peer = s if kind == socket.SOCK_DGRAM else s.accept()[0]
        print(peer.recv(99).decode(), flush=True)
        os.wait()
        peer.close(); s.close()
for s in socket.socketpair(): s.send(b"x")
`;

const CONNECT = `
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
print(s.recv(9).decode())
`;

let place: Shipped;

asEachUser(
  (fresh) => {
    place = fresh;
  },
  () => {
    it.each(WAYS)("%s: processes of a run reach each other's sockets of every kind and name", (way) => {
      place.write("family.py", FAMILY);
      const { stdout, stderr } = place.hermes(way, "/usr/bin/python3 family.py");
      expect(stdout.split("\n").filter(Boolean), stderr).toEqual(Array<string>(9).fill("from a child"));
    });

    it.each(["run -p agent", "exec"])(
      "%s: python's managers, a server that became a daemon, and name look-ups work",
      (way) => {
        place.write(
          "manager.py",
          "from multiprocessing import Manager\nd = Manager().dict(); d['a'] = 1\nprint(d)\n",
        );
        place.write(
          "server.js",
          `const net = require("node:net"), fs = require("node:fs");
       const server = net.createServer((c) => { c.end("served"); server.close(); });
       server.listen("served.sock", () => fs.writeFileSync("ready", ""));`,
        );
        place.write("client.js", `require("node:net").connect("served.sock").pipe(process.stdout);`);
        const daemon =
          "setsid node server.js < /dev/null > /dev/null 2>&1 & until [ -e ready ]; do sleep 0.05; done";
        const { stdout, stderr } = place.hermes(
          way,
          `/usr/bin/python3 manager.py; ${daemon}; node client.js; echo; getent passwd root`,
        );
        expect(stdout, stderr).toMatch(/^\{'a': 1\}\nserved\nroot:/);
      },
    );

    it.skipIf(!has("redis-server"))("run -p agent: a database that the run starts serves it", () => {
      const start = "redis-server --port 0 --unixsocket ./r.sock --save '' --daemonize yes > /dev/null";
      const wait = "until redis-cli -s ./r.sock ping > /dev/null 2>&1; do sleep 0.05; done";
      const use =
        "redis-cli -s ./r.sock set a b; redis-cli -s ./r.sock get a; redis-cli -s ./r.sock shutdown";
      const { stdout, stderr } = place.hermes("run -p agent", `${start}; ${wait}; ${use}`);
      expect(stdout, stderr).toBe("OK\nb\n");
    });

    it("a socket that another run left, or serves, is refused with what to do", async () => {
      place.write(
        "left.py",
        "import socket\ns = socket.socket(socket.AF_UNIX); s.bind('left.sock'); s.listen()\n",
      );
      place.hermes("run -q -p agent", "/usr/bin/python3 left.py");
      place.write("connect.py", CONNECT);
      const connect = "/usr/bin/python3 connect.py left.sock";
      for (const way of ["run -p agent", "exec"]) {
        const { stderr } = place.hermes(way, connect);
        expect(stderr).toContain("PermissionError");
        expect(stderr).toMatch(
          /To allow it, name its path: in `sockets` of a policy .* `urls.allow` of hermes.yaml/,
        );
      }
    });

    it("a socket that the user names is reached, by a policy and by the tools", async () => {
      const file = join(place.outside, "db.sock");
      place.write(
        "db.py",
        `import socket, sys\ns = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()\nwhile True: s.accept()[0].sendall(b"rows\\n")\n`,
        place.outside,
      );
      place.start("/usr/bin/python3", join(place.outside, "db.py"), file);
      await until(isThere(file), "the database is there");
      place.write("connect.py", CONNECT);
      const connect = `/usr/bin/python3 connect.py ${file}`;
      expect(place.hermes("run -p agent", connect).stdout).toBe("");
      expect(place.hermes("exec", connect).stdout).toBe("");
      const mine = place.write(
        "mine.yaml",
        `name: mine\nextends: agent\nvariables: { sockets: "${file}" }\n`,
        place.home,
      );
      expect(place.hermes(`run -p ${mine}`, connect).stdout).toContain("rows");
      place.bare("mkdir", "-p", join(place.home, ".config/hermes"));
      place.write(".config/hermes/hermes.yaml", `urls: { allow: ["unix:${file}"] }\n`, place.home);
      expect(place.hermes("exec", connect).stdout).toContain("rows");
    });
  },
);

function has(program: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
}
