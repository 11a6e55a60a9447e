import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermes } from "../../support/cli.js";
import { Workplace } from "./workplace.js";

interface Program {
  readonly name: string;
  readonly prepare?: (place: Workplace) => void;
  /** Commands to learn from, in the first folder. */
  readonly learn: readonly (readonly string[])[];
  /** Another run of the same kind, in the second folder: other names, other contents. */
  readonly again: readonly string[];
  /** The same program made to read a secret, or to go elsewhere. */
  readonly tampered: readonly {
    readonly how: string;
    readonly prepare?: (place: Workplace) => void;
    readonly command: readonly string[];
  }[];
}

/** Waits until a server listens at a port, or has ended. */
const WAIT = `import os, socket, sys, time
while True:
  try: socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close(); break
  except OSError: time.sleep(0.05)
  try: os.kill(int(sys.argv[2]), 0)
  except OSError: break
`;
const SERVER = (evil: string) => `import http.server, os, socket
${evil}
class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *a): pass
server = http.server.HTTPServer(("127.0.0.1", PORT), Handler)
server.handle_request(); server.handle_request()
`;
const NODE_SERVER = (
  evil: string,
) => `const http = require("node:http"), fs = require("node:fs"), net = require("node:net");
const server = http.createServer((request, response) => {
  fs.appendFileSync("access.log", request.url + "\\n");
  response.end(fs.readFileSync("data/" + request.url.slice(1)));
  server.close();
});
${evil}
server.listen(PORT, "127.0.0.1");
`;
const READ_SECRET_PY = "print(open('PLAIN').read())";
const CONNECT_PY = "s = socket.create_connection(('127.0.0.1', OTHER_PORT)); s.sendall(b'x'); s.close()";
const CONNECT_JS = `net.connect(OTHER_PORT, "127.0.0.1", function () { this.end("x"); }).on("error", (e) => console.log(String(e)));`;
const swallow = "try:\n  EVIL\nexcept OSError as e: print(e)";
const package_ = (version: string, script: string) => (place: Workplace) => {
  const folder = join(place.folder, `package-${version}`);
  mkdirSync(join(folder, "package"), { recursive: true });
  writeFileSync(
    join(folder, "package/package.json"),
    JSON.stringify({ name: "little", version, main: "index.js", scripts: { install: "node install.js" } }),
  );
  writeFileSync(join(folder, "package/index.js"), `module.exports = "${version}";\n`);
  writeFileSync(join(folder, "package/install.js"), place.fill(script));
  for (const where of [place.first, place.second]) {
    for (const name of ["node_modules", "package-lock.json"])
      rmSync(join(where, name), { recursive: true, force: true });
    spawnSync("tar", ["czf", join(where, `little-${version}.tgz`), "-C", folder, "package"]);
    writeFileSync(join(where, "package.json"), '{ "name": "app", "version": "1.0.0" }\n');
  }
};
const NPM = (version: string) => [
  "npm",
  "install",
  "--offline",
  "--no-audit",
  "--no-fund",
  "--foreground-scripts",
  `./little-${version}.tgz`,
];
const redis = (more: string) => [
  "bash",
  "-c",
  `redis-server --port PORT --bind 127.0.0.1 --dir . --save "" ${more} & python3 wait.py PORT $!; redis-cli -p PORT set KEY VALUE; redis-cli -p PORT get KEY; redis-cli -p PORT save; redis-cli -p PORT shutdown nosave; wait`,
];
const serverWithClient = (script: string, path: string, program = "python3") => [
  "bash",
  "-c",
  `${program} ${script} & python3 wait.py PORT $!; curl -s http://127.0.0.1:PORT/${path}; wait`,
];
const GIT = "git -c user.name=n -c user.email=e@example.org -c init.defaultBranch=main";

const PROGRAMS: readonly Program[] = [
  {
    name: "git",
    prepare: (p) => {
      p.file("a.txt", "one\n");
      p.file("b.txt", "two\n");
      p.file("c.txt", "three\n");
    },
    learn: [
      [
        "bash",
        "-c",
        `${GIT} init -q . && ${GIT} add a.txt && ${GIT} commit -qm one && ${GIT} log --oneline && ${GIT} status -s`,
      ],
    ],
    again: [
      "bash",
      "-c",
      `${GIT} init -q . && ${GIT} add b.txt && ${GIT} commit -qm 'two words' && ${GIT} log --oneline && ${GIT} status -s`,
    ],
    tampered: [
      {
        how: "a hook reads a secret",
        command: [
          "bash",
          "-c",
          `${GIT} init -q . && printf '#!/bin/sh\\ncat SECRET\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && ${GIT} add c.txt && ${GIT} commit -qm three`,
        ],
      },
      { how: "it compares with a secret", command: ["bash", "-c", `${GIT} diff --no-index /dev/null PLAIN`] },
    ],
  },
  {
    name: "curl",
    learn: [["curl", "-s", "-o", "out.html", "http://KNOWN/index.html"]],
    again: ["curl", "-s", "-o", "other.html", "http://KNOWN/other?page=2"],
    tampered: [
      { how: "it goes elsewhere", command: ["curl", "-s", "-o", "out.html", "http://ELSEWHERE/x"] },
      { how: "it reads a secret", command: ["curl", "-s", "file://SECRET"] },
      {
        how: "it sends a secret",
        command: ["curl", "-s", "--data-binary", "@PLAIN", "http://KNOWN/index.html"],
      },
    ],
  },
  {
    name: "python http.server with a client",
    prepare: (p) => {
      p.file("wait.py", WAIT);
      p.file("server.py", SERVER(""));
      p.file("index.html", "<p>hello");
      p.file("page.html", "<p>other");
    },
    learn: [serverWithClient("server.py", "index.html")],
    again: serverWithClient("server.py", "page.html"),
    tampered: [
      {
        how: "the server reads a secret",
        prepare: (p) => p.file("server.py", p.fill(SERVER(swallow.replace("EVIL", READ_SECRET_PY)))),
        command: serverWithClient("server.py", "index.html"),
      },
      {
        how: "the server goes elsewhere",
        prepare: (p) => p.file("server.py", p.fill(SERVER(swallow.replace("EVIL", CONNECT_PY)))),
        command: serverWithClient("server.py", "index.html"),
      },
    ],
  },
  {
    name: "npm install from a tarball",
    prepare: (p) => {
      package_("1.0.0", "require('fs').writeFileSync('built.txt', 'x');")(p);
      package_("1.1.0", "require('fs').writeFileSync('built.txt', 'longer');")(p);
    },
    learn: [NPM("1.0.0")],
    again: NPM("1.1.0"),
    tampered: [
      {
        how: "the install script reads a secret",
        prepare: package_("1.2.0", "console.log(require('fs').readFileSync('SECRET', 'utf8'));"),
        command: NPM("1.2.0"),
      },
      {
        how: "the install script goes elsewhere",
        prepare: package_("1.3.0", `const net = require("node:net"); ${CONNECT_JS}`),
        command: NPM("1.3.0"),
      },
    ],
  },
  {
    name: "gcc",
    prepare: (p) => {
      p.file("hello.c", '#include <stdio.h>\nint main(void) { puts("hello"); }\n');
      p.file(
        "other.c",
        '#include <stdlib.h>\n#include <stdio.h>\nint main(void) { puts("other"); return abs(0); }\n',
      );
    },
    learn: [["gcc", "-O1", "-o", "hello", "hello.c"]],
    again: ["gcc", "-O1", "-o", "other", "other.c"],
    tampered: [
      {
        how: "the source includes a secret",
        prepare: (p) => p.file("evil.c", p.fill('#include "PLAIN"\nint main(void) {}\n')),
        command: ["gcc", "-O1", "-o", "hello", "evil.c"],
      },
      {
        how: "the assembler takes in a secret",
        prepare: (p) => p.file("evil.c", p.fill('__asm__(".incbin \\"SECRET\\"");\nint main(void) {}\n')),
        command: ["gcc", "-O1", "-o", "hello", "evil.c"],
      },
    ],
  },
  {
    name: "redis",
    prepare: (p) => p.file("wait.py", WAIT),
    learn: [redis("")],
    again: redis("").map((word) => word.replaceAll("KEY", "colour").replaceAll("VALUE", "blue")),
    tampered: [
      { how: "it loads a secret", command: redis("--aclfile PLAIN") },
      {
        how: "it replicates elsewhere",
        command: redis("--replicaof 127.0.0.1 OTHER_PORT"),
      },
    ],
  },
  {
    name: "sqlite3",
    learn: [
      ["sqlite3", "shop.db", "create table t(a); insert into t values (1), (2); select sum(a) from t;"],
    ],
    again: [
      "sqlite3",
      "stock.db",
      "create table u(b text); insert into u values ('x'); select * from u; update u set b = 'y';",
    ],
    tampered: [
      { how: "it reads a secret", command: ["sqlite3", "shop.db", "select readfile('PLAIN');"] },
      { how: "it runs a program", command: ["sqlite3", "shop.db", ".shell cat SECRET"] },
    ],
  },
  {
    name: "tar",
    prepare: (p) => {
      for (const name of ["docs/a.txt", "docs/b.txt", "docs/deep/c.txt", "images/x.png", "images/y.png"])
        p.file(name, name);
    },
    learn: [["tar", "czf", "docs.tgz", "docs"]],
    again: ["tar", "czf", "pictures.tgz", "images"],
    tampered: [
      { how: "it packs a secret", command: ["tar", "cf", "docs.tgz", "docs", "PLAIN"] },
      {
        how: "it runs a program",
        command: ["tar", "czf", "docs.tgz", "--checkpoint=1", "--checkpoint-action=exec=cat SECRET", "docs"],
      },
    ],
  },
  {
    name: "a server on node",
    prepare: (p) => {
      p.file("wait.py", WAIT);
      p.file("server.cjs", NODE_SERVER(""));
      p.file("data/one", "1");
      p.file("data/two", "2");
      p.file("data/three", "3");
    },
    learn: [serverWithClient("server.cjs", "one", "NODE"), serverWithClient("server.cjs", "three", "NODE")],
    again: serverWithClient("server.cjs", "two", "NODE"),
    tampered: [
      {
        how: "it reads a secret",
        prepare: (p) =>
          p.file(
            "server.cjs",
            p.fill(
              NODE_SERVER(
                "try { console.log(fs.readFileSync('PLAIN', 'utf8')); } catch (e) { console.log(String(e)); }",
              ),
            ),
          ),
        command: serverWithClient("server.cjs", "one", "NODE"),
      },
      {
        how: "it goes elsewhere",
        prepare: (p) => p.file("server.cjs", p.fill(NODE_SERVER(CONNECT_JS))),
        command: serverWithClient("server.cjs", "one", "NODE"),
      },
      {
        how: "a client asks for a secret",
        command: serverWithClient(
          "server.cjs",
          "..%2f..%2fprivate%2fnotes.txt --path-as-is http://127.0.0.1:PORT/../../private/notes.txt",
          "NODE",
        ),
      },
    ],
  },
  {
    name: "a bash script",
    prepare: (p) => {
      p.file(
        "report.sh",
        'set -e\nd=$(mktemp -d)\nsort "$1" | uniq -c > "$d/counted"\nwc -l < "$d/counted"\ndate > stamp\nrm -r "$d"\ncurl -s http://KNOWN/ > page\n',
      );
      p.file("words", "b\na\nb\n");
      p.file("names", "x\ny\nz\nx\n");
    },
    learn: [["bash", "report.sh", "words"]],
    again: ["bash", "report.sh", "names"],
    tampered: [
      {
        how: "it reads a secret",
        prepare: (p) => p.file("report.sh", p.fill("cat SECRET PLAIN; sort PLAIN\n")),
        command: ["bash", "report.sh", "words"],
      },
      {
        how: "it goes elsewhere",
        prepare: (p) =>
          p.file("report.sh", p.fill("curl -s http://ELSEWHERE/; exec 3<>/dev/tcp/127.0.0.1/OTHER_PORT\n")),
        command: ["bash", "report.sh", "words"],
      },
    ],
  },
];

/** What the refused calls of a trace were about. */
function refusedIn(trace: string): string[] {
  return readFileSync(trace, "utf8")
    .split("\n")
    .filter((line) => line.includes('"action":"deny"'))
    .map((line) => {
      const { args, path } = JSON.parse(line);
      return args.argv?.join(" ") ?? path ?? args.addr ?? "";
    });
}

describe("what was learned", () => {
  let place: Workplace;
  beforeAll(async () => {
    place = new Workplace();
    await place.open();
  });
  afterAll(() => place.close());

  for (const program of PROGRAMS)
    describe(program.name, () => {
      const policy = () => join(place.folder, `${program.name.replaceAll(/\W+/g, "-")}.yaml`);
      const enforce = (command: readonly string[], cwd: string, options: readonly string[] = []) =>
        place.hermes(
          ["run", "--json", "-p", policy(), ...options, "--", ...command.map((word) => place.fill(word))],
          cwd,
        );

      beforeAll(async () => {
        program.prepare?.(place);
        for (const command of program.learn) {
          const { status, output } = await place.hermes(
            ["learn", "-q", "-o", policy(), "--", ...command.map((word) => place.fill(word))],
            place.first,
          );
          expect(status, output).toBe(0);
        }
      });

      it("loads, and nothing in it is suspicious", () => {
        const { status, stdout, stderr } = hermes(["policy", "check", "--strict", policy()]);
        expect(status, stdout + stderr + readFileSync(policy(), "utf8")).toBe(0);
      });

      it("denies nothing on another run of the same kind", async () => {
        const { status, output, denied, decisions } = await enforce(program.again, place.second);
        expect({ status, denied, decisions }, output).toEqual({ status: 0, denied: 0, decisions: [] });
      });

      for (const { how, prepare, command } of program.tampered)
        it(`denies it when it is tampered with: ${how}`, async () => {
          prepare?.(place);
          const before = place.visits.elsewhere;
          const trace = join(place.folder, "tampered.jsonl");
          const { output, denied } = await enforce(command, place.second, ["-t", trace]);
          expect(denied, output).toBeGreaterThan(0);
          expect(output).not.toContain("TOP-SECRET");
          expect(place.visits.elsewhere).toBe(before);
          expect(refusedIn(trace).join("\n"), output).toMatch(
            new RegExp(`id_ed25519|notes\\.txt|127\\.0\\.0\\.1:${place.elsewhere}|pre-commit|^sh -c`, "m"),
          );
        });
    });
});
