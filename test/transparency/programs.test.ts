import { fileURLToPath } from "node:url";
import { describe } from "vitest";
import { build, built, needs, same, shell } from "./both-ways.js";

needs(
  "find",
  "tar",
  "gzip",
  "git",
  "gcc",
  "make",
  "python3",
  "perl",
  "sqlite3",
  "curl",
  "go",
  "redis-server",
);

const python = (script: string) => ({ command: ["/usr/bin/python3", "-c", script] });
const node = (script: string) => ({ command: [process.execPath, "-e", script] });

describe("files", () => {
  same("ls -lR lists a large tree alike", { command: ["ls", "-lR", "/usr/include", "/usr/share/perl"] });
  same("find sees the same tree", {
    command: [
      "find",
      "/usr/include",
      "-type",
      "f",
      "-name",
      "*.h",
      "-size",
      "+20k",
      "-printf",
      "%p %s %m\\n",
    ],
  });
  same("calls on paths and sockets succeed and fail alike", {
    command: ["/usr/bin/python3", fileURLToPath(new URL("./programs/acts.py", import.meta.url))],
  });
  same(
    "tar and gzip make the same archive and unpack it alike",
    shell(`tar cf - --sort=name -C /usr/include linux | gzip -n > a.tar.gz &&
      mkdir out && tar xzf a.tar.gz -C out && diff -r out/linux /usr/include/linux && sha256sum a.tar.gz`),
  );
  same(
    "sqlite3 writes the same database",
    shell(`sqlite3 a.db 'pragma journal_mode=wal; create table t(a, b); begin;
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
      insert into t select i, hex(i * i) from n; commit; create index x on t(b);
      select count(*), sum(a), max(b) from t; pragma wal_checkpoint(truncate); vacuum;' && sqlite3 a.db .dump | sha256sum`),
  );
  same("perl reads, sorts and writes alike", {
    command: [
      "perl",
      "-e",
      'open my $in, "<", "/usr/include/stdio.h" or die; my %n; $n{$_}++ for map { split } <$in>; open my $out, ">", "w"; print $out "$_ $n{$_}\\n" for sort keys %n; close $out; print -s "w", "\\n"; print `wc -l < w`; unlink "w" or die; print -e "w" ? "there" : "gone";',
    ],
  });
});

describe("builds", () => {
  same(
    "git makes the same commits and packs them",
    shell(
      `export GIT_AUTHOR_DATE='2024-01-01T00:00:00Z' GIT_COMMITTER_DATE='2024-01-01T00:00:00Z'
      export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_CONFIG_NOSYSTEM=1
      git init -q -b main . && cp -r /usr/include/asm-generic . && git add . && git commit -qm one &&
      echo more >> asm-generic/errno.h && git commit -qam two && git -c pack.threads=1 gc -q &&
      git log --stat && git fsck --full && git count-objects -v && git diff HEAD~ && git status --short && rm -rf .git`,
    ),
  );
  same(
    "make -j2 and gcc build the same program of twenty files",
    shell(
      `for i in $(seq 20); do printf '#include <stdio.h>\\nint f%d(int x) { printf("%%d\\\\n", x); return x + %d; }\\n' $i $i > f$i.c; done
      { seq -f 'int f%.0f(int);' 20; echo 'int main(void) { int x = 0;'; seq -f 'x = f%.0f(x);' 20; echo 'return x; }'; } > main.c
      printf 'OBJ = %s\\nprog: $(OBJ)\\n\\tgcc -o $@ $(OBJ)\\n' "$(echo main.o $(seq -f 'f%.0f.o' 20))" > Makefile
      make -s -j2 CC=gcc && ./prog`,
    ),
  );
});

describe("languages", () => {
  same(
    "python3 runs subprocesses, threads and asyncio sockets alike",
    python(`
import asyncio, subprocess, threading, concurrent.futures as cf
print(subprocess.run(["sh", "-c", "cat; exit 3"], input=b"x" * 200000, stdout=subprocess.PIPE).stdout.count(b"x"))
print([subprocess.call(["sh", "-c", f"exit {i}"]) for i in range(5)])
total, lock = [0], threading.Lock()
def add():
    for _ in range(1000):
        with lock: total[0] += 1
threads = [threading.Thread(target=add) for _ in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(total)
with cf.ProcessPoolExecutor(2) as pool: print(list(pool.map(abs, range(-5, 5))))
async def main():
    async def echo(reader, writer):
        while data := await reader.read(65536): writer.write(data); await writer.drain()
        writer.close()
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async def talk(i):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(bytes([i]) * 50000); writer.write_eof()
        data = await reader.read(-1); writer.close()
        return len(data), set(data)
    print(await asyncio.gather(*map(talk, range(10))))
    server.close()
asyncio.run(main())
`),
  );
  same(
    "node serves and fetches http, runs workers and children alike",
    node(`
const http = require("http"), { Worker } = require("worker_threads"), cp = require("child_process");
const server = http.createServer((q, r) => q.pipe(r)).listen(0, "127.0.0.1", async () => {
  const url = "http://127.0.0.1:" + server.address().port;
  for (let i = 0; i < 5; i++) console.log((await (await fetch(url, { method: "POST", body: "x".repeat(i * 30000) })).text()).length);
  const results = await Promise.all([1, 2, 3].map((n) => new Promise((done) =>
    new Worker("require('worker_threads').parentPort.postMessage(require('worker_threads').workerData ** 2)", { eval: true, workerData: n }).on("message", done))));
  console.log(results, cp.execFileSync("sh", ["-c", "echo out; echo err >&2; exit 0"], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }));
  require("fs").writeFileSync("child.js", "process.on('message', (m) => process.send(m + 1, () => process.exit(7)))");
  const child = cp.fork("./child.js");
  child.on("message", (m) => console.log("child says", m));
  child.on("exit", (code) => { console.log("child exit", code); server.close(); server.closeAllConnections(); });
  child.send(41);
});
`),
  );
  const go = (name: string) => {
    const source = new URL(`./programs/${name}.go`, import.meta.url).pathname;
    const env = {
      CGO_ENABLED: "0",
      GOFLAGS: "-mod=mod",
      GOCACHE: `${built}/go`,
      HOME: built,
      GOTOOLCHAIN: "local",
    };
    // `go build -o` takes its output before the sources.
    build(
      `${name}-list`,
      "/bin/sh",
      ["-c", `exec /usr/bin/go build -ldflags=-s -o "$2" ${source}`, "sh"],
      env,
    );
    return { command: [`${built}/${name}-list`] };
  };
  same("a static Go program with goroutines, files and sockets runs alike", go("goroutines"));
});

describe("servers", () => {
  same(
    "curl gets the same bytes from a local server",
    shell(`mkdir www && head -c 3000000 /dev/zero | tr '\\0' 'z' > www/big && echo small > www/small
      cat > serve.py <<'S'
import http.server, functools, sys
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *a): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory="www"))
open("port.new", "w").write(str(server.server_port)); import os; os.rename("port.new", "port"); server.serve_forever()
S
      python3 serve.py & while [ ! -e port ]; do sleep 0.02; done; url=http://127.0.0.1:$(cat port)
      curl -s $url/big | sha256sum; curl -s -w '%{http_code} %{size_download}\\n' -o /dev/null $url/small $url/none
      seq 6 | xargs -P3 -I{} curl -s $url/small; kill %1; wait; rm port`),
  );
  same(
    "redis-server answers redis-benchmark and stops alike",
    shell(`redis-server --port 0 --unixsocket $PWD/s --save '' --appendonly yes --appendfsync no --daemonize no --logfile log --dir $PWD &
      while [ ! -S s ]; do sleep 0.02; done
      redis-benchmark -s s -n 1000 -c 10 -t set,get,lpush -q > /dev/null && redis-cli -s s dbsize && redis-cli -s s set k v && redis-cli -s s get k
      redis-cli -s s shutdown nosave; wait; echo $?; find . -name '*.aof' | wc -l; rm -rf log append*`),
  );
});
