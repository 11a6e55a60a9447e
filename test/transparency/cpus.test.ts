import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { start } from "hermes-runtime";
import { afterAll, beforeAll, expect, it } from "vitest";
import { capture } from "../support/calls.js";

/** A thread that opens without a pause shares a CPU with HERMES (native/fastpath/cpu-affinity.c), and sees nothing of it. */

let folder: string;
let policy: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-cpus-"));
  policy = join(folder, "p.yaml");
  writeFileSync(
    policy,
    "name: p\nrules:\n  - { id: r, deny: read, path: /nowhere/** }\n  - { id: x, redirect: exec, path: /nowhere/program, to: /bin/true }\n",
  );
  writeFileSync(join(folder, "f"), "x");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const OPENS = `
import os, threading, subprocess
def opens(n=400):
    for i in range(n): os.close(os.open('f', os.O_RDONLY))
def where(): return sorted(os.sched_getaffinity(0))
def told(path='/proc/self/status'):
    return [line.split()[1] for line in open(path) if line.startswith('Cpus_allowed_list')][0]
`;

it.skipIf(availableParallelism() < 2)(
  "happens, and is over when the program does something else",
  async () => {
    const program = `${OPENS}
import time
while not os.path.exists('enough'): opens()
open('quiet', 'w').close()
while not os.path.exists('stop'): time.sleep(0.01)
`;
    const session = await start({ command: ["python3", "-c", program], policy, cwd: folder, view: "off" });
    const seen = () => {
      const list = /^Cpus_allowed_list:\t(.*)$/m.exec(
        readFileSync(`/proc/${session.pid}/status`, "utf8"),
      )![1]!;
      return /[,-]/.test(list) ? "many" : "one";
    };
    await expect.poll(seen, { interval: 1 }).toBe("one");
    writeFileSync(join(folder, "enough"), "");
    await expect.poll(() => readFileSync(join(folder, "quiet"))).toBeDefined();
    await expect.poll(seen).toBe(availableParallelism() > 1 ? "many" : "one");
    writeFileSync(join(folder, "stop"), "");
    expect((await session.result).exitCode).toBe(0);
  },
);

it("is not seen by the program, its threads or its children, and what they set holds", async () => {
  const program = `${OPENS}
seen = set()
def look(): seen.add((str(where()), told()))
for i in range(20): opens(50 + i); look()
def child():
    pid = os.fork()
    if pid == 0:
        opens(60); print('child', where(), told(), flush=True); os._exit(0)
    os.waitpid(pid, 0)
for i in range(10):
    opens(); child()
    opens(); t = threading.Thread(target=look); t.start(); t.join()
    opens(); print(subprocess.run(['grep', 'Cpus_allowed_list', '/proc/self/status'], stdout=subprocess.PIPE).stdout)
    opens(); print(subprocess.run(['nproc'], stdout=subprocess.PIPE).stdout)
print(seen)
one = where()[-1]
opens(); os.sched_setaffinity(0, {one}); opens(); print(where(), told()); child()
opens(); os.sched_setaffinity(0, range(os.cpu_count())); opens(); print(where(), told())
threads = [threading.Thread(target=opens, args=[2000]) for i in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print(where(), told())
`;
  const options = { cwd: folder };
  const bare = await capture(["python3", "-c", program], options);
  const { output, session } = await capture(["python3", "-c", program], { ...options, policy });
  expect(session.protections.doors).toEqual(["notify", "trace"]);
  expect(output).toBe(bare.output);
});

it("undoes nothing that one thread sets for another", async () => {
  const program = `${OPENS}
import time
cpus = where(); stop = False; thread = []
def work():
    thread.append(threading.get_native_id())
    while not stop: opens(50)
t = threading.Thread(target=work); t.start()
while not thread: time.sleep(0.01)
lost = 0
for i in range(60):
    wanted = {cpus[i % len(cpus)]} if i % 3 else set(cpus)
    os.sched_setaffinity(thread[0], wanted); time.sleep(0.013)
    lost += os.sched_getaffinity(thread[0]) != wanted
stop = True; t.join(); print('lost', lost)
`;
  const { output } = await capture(["python3", "-c", program], { cwd: folder, policy });
  expect(output).toBe("lost 0\n");
});
