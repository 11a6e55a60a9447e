import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { HERMES } from "../support/cli.js";
import { below, listOf, nameOf, textOf } from "../support/processes.js";
import { until } from "../support/until.js";

const LOOKS = fileURLToPath(new URL("../transparency/policies/every-path.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "hermes-waiting-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const THREADS = 1000;

/** Each thread waits in an open that the broker makes on its behalf; none of them may keep another caller waiting. */
const FLOOD = `
import os, sys, threading
os.mkfifo("pipe")
threading.stack_size(65536)
failed = []
def wait():
    try: os.close(os.open("pipe", os.O_RDONLY))
    except OSError as e: failed.append(e)
threads = [threading.Thread(target=wait, daemon=True) for _ in range(${THREADS})]
for t in threads: t.start()
sys.stdin.readline()
print(open("/proc/self/comm").read().strip(), "reads on", sum(t.is_alive() for t in threads), flush=True)
writer = os.open("pipe", os.O_WRONLY)
for t in threads: t.join()
print("all woke", failed)
`;

it("a thousand threads that wait for a pipe keep no other caller waiting, and all of them wake", {
  timeout: 300_000,
}, async () => {
  const run = spawn(HERMES, ["run", "-q", "-p", LOOKS, "--", "/usr/bin/python3", "-c", FLOOD], {
    cwd: mkdtempSync(join(folder, "run-")),
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void run.kill("SIGKILL"));
  let output = "";
  run.stdout.on("data", (bytes: Buffer) => (output += bytes));
  const ended = once(run, "exit");

  const broker = await until(
    () => below(run.pid!).find((pid) => nameOf(`/proc/${pid}`) === "hermes-broker"),
    "the broker",
  );
  const threads = () => listOf(`/proc/${broker}/task`);
  /** Where the broker's threads are in the kernel, for the message of a wait that fails. */
  const state = () => {
    const places: Record<string, number> = {};
    for (const tid of threads()) {
      const place = textOf(`/proc/${broker}/task/${tid}/wchan`);
      places[place] = (places[place] ?? 0) + 1;
    }
    return JSON.stringify({ output, broker: places });
  };
  const reach = (condition: () => boolean, what: string) =>
    until(condition, what).catch((cause) => {
      throw new Error(`${what}: ${state()}`, { cause });
    });

  await reach(() => threads().length >= THREADS, "a thread of the broker for each waiting thread");
  run.stdin.write("\n");
  await reach(() => output.includes("\n"), "the main thread to read a file meanwhile");
  await reach(() => output.includes("all woke"), "every thread to wake");
  expect([(await ended)[0], output]).toEqual([0, `python3 reads on ${THREADS}\nall woke []\n`]);
});
