import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { hermes } from "../support/cli.js";

const LOOKS = fileURLToPath(new URL("../transparency/policies/every-path.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "hermes-waiting-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Each of them waits in an open that is made in its place; none of them may keep anybody else waiting. */
const FLOOD = `
import os, threading, time
os.mkfifo("pipe")
threading.stack_size(65536)
failed = []
def wait():
    try: os.close(os.open("pipe", os.O_RDONLY))
    except OSError as e: failed.append(e)
threads = [threading.Thread(target=wait, daemon=True) for _ in range(1000)]
for t in threads: t.start()
time.sleep(1)
print(open("/proc/self/comm").read().strip(), "reads on", sum(t.is_alive() for t in threads))
writer = os.open("pipe", os.O_WRONLY)
for t in threads: t.join()
print("all woke", failed)
`;

it("a thousand threads that wait for a pipe keep nobody else waiting, and all of them wake", {
  timeout: 300_000,
}, () => {
  const { status, stdout } = hermes(["run", "-q", "-p", LOOKS, "--", "/usr/bin/python3", "-c", FLOOD], {
    cwd: mkdtempSync(join(folder, "run-")),
    timeout: 240_000,
  });
  expect([status, stdout]).toEqual([0, "python3 reads on 1000\nall woke []\n"]);
});
