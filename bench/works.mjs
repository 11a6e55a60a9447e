import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./tools.mjs";

/**
 * What people really run. `prepare` makes what it needs once, `reset` puts it back before each run; `argv` is the command.
 * A `server` is started under the system and loaded from outside: what is measured is how long the load takes.
 */
export const WORKS = [
  {
    name: "gcc",
    about: "make -j2 of the native part of HERMES, one object per file, -O2",
    needs: ["gcc", "make"],
    prepare({ workspace }) {
      cpSync(`${root}native`, join(workspace, "native"), { recursive: true });
      cpSync(`${root}node_modules/node-api-headers/include`, join(workspace, "include"), { recursive: true });
      const objects = readdirSync(`${root}native`)
        .filter((file) => file.endsWith(".c"))
        .map((file) => `out/${file.replace(/c$/, "o")}`);
      writeFileSync(
        join(workspace, "Makefile"),
        `all: ${objects.join(" ")}\nout/%.o: native/%.c\n\tgcc -O2 -std=gnu11 -fPIC -Iinclude -c -o $@ $<\n`,
      );
    },
    reset: ({ workspace }) => empty(join(workspace, "out")),
    argv: () => ["make", "-s", "-j2", "all"],
  },
  {
    name: "git",
    about: "git clone of a local repository of 2,000 files and 60 commits, git log --stat, git gc",
    needs: ["git"],
    prepare({ folder }) {
      const origin = join(folder, "origin");
      const git = (...words) =>
        execFileSync(
          "git",
          ["-C", origin, "-c", "user.name=b", "-c", "user.email=b@b", "-c", "gc.auto=0", ...words],
          {
            stdio: "ignore",
          },
        );
      mkdirSync(origin);
      git("init", "-q");
      for (let commit = 0; commit < 60; commit++) {
        for (let i = 0; i < 34; i++) {
          mkdirSync(join(origin, `d${i % 40}`), { recursive: true });
          writeFileSync(join(origin, `d${i % 40}`, `f${commit}-${i}.txt`), `${commit} ${i}\n`.repeat(200));
        }
        git("add", ".");
        git("commit", "-q", "-m", `change ${commit}`);
      }
    },
    reset: ({ workspace }) => rmSync(join(workspace, "clone"), { recursive: true, force: true }),
    argv: ({ folder }) => [
      "sh",
      "-c",
      `git clone -q --no-hardlinks ${join(folder, "origin")} clone && cd clone && git log --stat >/dev/null && git gc -q`,
    ],
  },
  {
    name: "npm",
    about: "npm ci --offline of 30 packages from a local cache",
    needs: ["npm"],
    prepare({ workspace, home }) {
      const names = ["commander", "yaml", "ipaddr.js", "unbash", "zod"];
      const { devDependencies, dependencies } = JSON.parse(
        execFileSync("cat", [`${root}package.json`], { encoding: "utf8" }),
      );
      const versions = { ...devDependencies, ...dependencies };
      const wanted = Object.fromEntries(names.map((name) => [name, versions[name]]));
      writeFileSync(
        join(workspace, "package.json"),
        JSON.stringify({ name: "work", dependencies: { ...wanted, express: "5.1.0" } }),
      );
      execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], {
        cwd: workspace,
        env: { ...process.env, HOME: home },
        stdio: "ignore",
      });
    },
    reset: ({ workspace }) => rmSync(join(workspace, "node_modules"), { recursive: true, force: true }),
    argv: () => ["npm", "ci", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
  },
  {
    name: "python",
    about: "python3 -m unittest of 40 modules of 25 tests, each with files and a child process",
    needs: ["python3"],
    prepare({ workspace }) {
      mkdirSync(join(workspace, "tests"));
      for (let i = 0; i < 40; i++) writeFileSync(join(workspace, "tests", `test_${i}.py`), PYTHON_TESTS);
    },
    reset: () => {},
    argv: () => ["python3", "-B", "-m", "unittest", "discover", "-q", "-s", "tests"],
  },
  {
    name: "tar",
    about: "tar of /usr/share/perl and /usr/include",
    needs: ["tar"],
    argv: () => ["tar", "-cf", "out.tar", ...present("/usr/share/perl", "/usr/include")],
  },
  {
    name: "find",
    about: "find over /usr/share and /usr/lib by name",
    needs: ["find"],
    argv: () => ["find", ...present("/usr/share", "/usr/lib"), "-name", "*.h"],
  },
  {
    name: "sqlite",
    about: "300 transactions of 20 inserts, synchronous",
    needs: ["sqlite3"],
    prepare({ workspace }) {
      const inserts = Array.from(
        { length: 20 },
        (_, i) => `INSERT INTO t VALUES (${i}, hex(randomblob(50)));`,
      ).join("");
      writeFileSync(
        join(workspace, "work.sql"),
        `CREATE TABLE t (a, b);\n${`BEGIN;${inserts}COMMIT;\n`.repeat(300)}`,
      );
    },
    reset: ({ workspace }) => rmSync(join(workspace, "work.db"), { force: true }),
    argv: () => ["sqlite3", "work.db", ".read work.sql"],
  },
  {
    name: "redis",
    about: "redis-benchmark of set and get, 20 clients, against a server under the system",
    needs: ["redis-server", "redis-benchmark"],
    server: ({ port }) => [
      "redis-server",
      "--port",
      String(port),
      "--save",
      "",
      "--appendonly",
      "no",
      "--loglevel",
      "warning",
    ],
    load: ({ port }) => [
      "redis-benchmark",
      "-p",
      String(port),
      "-t",
      "set,get",
      "-n",
      "30000",
      "-c",
      "20",
      "-q",
    ],
  },
  {
    name: "node http",
    about: "2,000 requests to a node http server under the system that reads a file for each",
    needs: ["node"],
    prepare: ({ workspace }) => writeFileSync(join(workspace, "server.mjs"), NODE_SERVER),
    server: ({ port }) => ["node", "server.mjs", String(port)],
    load: ({ port }) => ["node", "-e", NODE_LOAD, String(port)],
  },
  {
    name: "chromium",
    about: "chromium --headless --dump-dom of a page of 2,000 elements",
    needs: ["chromium"],
    prepare: ({ workspace }) =>
      writeFileSync(
        join(workspace, "page.html"),
        `<script>for (let i = 0; i < 2000; i++) document.body?.append(i);</script>`,
      ),
    reset: ({ workspace }) => rmSync(join(workspace, "profile"), { recursive: true, force: true }),
    argv: ({ workspace }) => [
      ...[
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
      ],
      ...[
        `--user-data-dir=${join(workspace, "profile")}`,
        "--dump-dom",
        `file://${join(workspace, "page.html")}`,
      ],
    ],
  },
];

const PYTHON_TESTS = `
import json, os, subprocess, tempfile, unittest

def case(i):
    def test(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.json")
            with open(path, "w") as f:
                json.dump({"n": list(range(2000 + i))}, f)
            with open(path) as f:
                self.assertEqual(len(json.load(f)["n"]), 2000 + i)
        if i == 0:
            self.assertEqual(subprocess.run(["true"]).returncode, 0)
    return test

class Tests(unittest.TestCase):
    pass

for i in range(25):
    setattr(Tests, f"test_{i}", case(i))
`;

const NODE_SERVER = `
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
createServer((_, response) => response.end(readFileSync("server.mjs"))).listen(Number(process.argv[2]), "127.0.0.1");
`;

const NODE_LOAD = `
const url = "http://127.0.0.1:" + process.argv[1];
let left = 2000;
const one = async () => { while (left-- > 0) await (await fetch(url)).arrayBuffer(); };
await Promise.all(Array.from({ length: 10 }, one));
`;

function empty(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
}

function present(...paths) {
  return paths.filter((path) => existsSync(path));
}
