import { createHash } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Backend } from "../../../../src/agents/tools/backend.js";
import type { Answer } from "../../../../src/people/approval/answer.js";
import type { Question } from "../../../../src/people/approval/question.js";
import { until } from "../../../support/until.js";
import { begin, finish, traces, Workspace } from "./place.js";

const sha = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const TEN_MB = 10_000_000;

/** Ignores SIGTERM, and leaves a grandchild in a session of its own that does so, too. */
const STUBBORN = `trap "" TERM; (setsid sh -c 'trap "" TERM; while :; do sleep 1; done' &)
echo ready; while :; do sleep 1; done`;

/** What every backend promises. The programs used are those of a busybox, which every one of them has. */
export function keepsItsPromises(name: string, make: () => Promise<Backend> | Backend): void {
  describe(`commands in ${name}`, () => {
    const workspace = new Workspace();
    const before = traces();
    /** From a file: what counts is what it does, not what its text looks like. */
    let scripts = 0;
    const sh = (script: string) => {
      const file = `script-${++scripts}.sh`;
      writeFileSync(join(workspace.path, file), script);
      return ["sh", join(workspace.path, file)];
    };
    let backend: Backend;
    beforeAll(async () => {
      backend = await make();
    });
    afterAll(async () => {
      await backend.close();
      workspace.remove();
    });

    it("end with the program's status", async () => {
      expect((await finish(backend, workspace.order(["true"]))).result).toMatchObject({
        exitCode: 0,
        timedOut: false,
        refusals: [],
      });
      expect((await finish(backend, workspace.order(sh("exit 7")))).result.exitCode).toBe(7);
    });

    it("are not started when there is no such program, or it is none", async () => {
      await expect(finish(backend, workspace.order(["no-such-program"]))).rejects.toMatchObject({
        code: "NOT_FOUND",
        exitCode: 127,
      });
      writeFileSync(join(workspace.path, "text"), "no program\n", { mode: 0o644 });
      await expect(finish(backend, workspace.order(["./text"]))).rejects.toMatchObject({
        code: "NOT_EXECUTABLE",
        exitCode: 126,
      });
    });

    it("tell the signal that ended them", async () => {
      const { result } = await finish(backend, workspace.order(sh("kill -s TERM $$")));
      expect(result).toMatchObject({ exitCode: 143, signal: "SIGTERM", timedOut: false });
    });

    it("get the signals that they are sent", async () => {
      const script = `trap 'echo heard; exit 5' USR1; echo ready; while :; do sleep 0.1; done`;
      const { running, printed, finished } = await begin(backend, workspace.order(sh(script)));
      await until(() => printed().includes("ready"));
      running.signal("SIGUSR1");
      const { result, stdout } = await finished;
      expect(stdout.toString()).toBe("ready\nheard\n");
      expect(result.exitCode).toBe(5);
    });

    it("print to stdout and stderr apart, and all of it", async () => {
      for (const letter of ["o", "e"])
        writeFileSync(join(workspace.path, letter), Buffer.alloc(TEN_MB, letter));
      const script = "cat o & cat e >&2; wait";
      const { stdout, stderr } = await finish(backend, workspace.order(sh(script)));
      expect(sha(stdout)).toBe(sha(Buffer.alloc(TEN_MB, "o")));
      expect(sha(stderr)).toBe(sha(Buffer.alloc(TEN_MB, "e")));
    });

    it("lose nothing to a reader who takes long", async () => {
      writeFileSync(join(workspace.path, "much"), Buffer.alloc(TEN_MB, "0123456789abcdef\n"));
      const hash = createHash("sha256");
      const running = await backend.start(workspace.order(["cat", "much"]), {
        output: async (_, bytes) => {
          hash.update(bytes);
          await new Promise((resolve) => setTimeout(resolve, 1));
        },
      });
      await running.result;
      expect(hash.digest("hex")).toBe(sha(Buffer.alloc(TEN_MB, "0123456789abcdef\n")));
    });

    it("print bytes that are no text unchanged", async () => {
      const { stdout } = await finish(backend, workspace.order(["printf", "\\0\\377\\200x"]));
      expect([...stdout]).toEqual([0, 255, 128, 120]);
    });

    it("read what is written to them, until it is closed", async () => {
      const { running, printed, finished } = await begin(
        backend,
        workspace.order(["cat"], { stdin: "pipe" }),
      );
      running.write("one ");
      await until(() => printed() === "one ");
      running.write(Buffer.from("two"));
      running.closeInput();
      expect((await finished).stdout.toString()).toBe("one two");
    });

    it("read ten megabytes", async () => {
      const bytes = Buffer.alloc(TEN_MB, "0123456789abcdef\n");
      const { running, finished } = await begin(backend, workspace.order(["sha256sum"], { stdin: "pipe" }));
      running.write(bytes);
      running.closeInput();
      expect((await finished).stdout.toString()).toBe(`${sha(bytes)}  -\n`);
    });

    it("have an empty stdin when no input is given", async () => {
      const { result, stdout } = await finish(backend, workspace.order(["cat"]));
      expect([result.exitCode, stdout.length]).toEqual([0, 0]);
    });

    it("may have a terminal, of the given size, which can change", async () => {
      const script = `test -t 0 && test -t 1 && test -t 2 && stty size
        trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.1; done`;
      const order = workspace.order(sh(script), { terminal: { columns: 91, rows: 23 }, stdin: "pipe" });
      const { running, printed, finished } = await begin(backend, order);
      await until(() => printed().includes("ready"));
      running.resize(120, 40);
      const { result, stdout, stderr } = await finished;
      expect(stdout.toString().replaceAll("\r", "")).toBe("23 91\nready\n40 120\n");
      expect([result.exitCode, stderr.length]).toEqual([0, 0]);
    });

    it("read a terminal's lines, and its end", async () => {
      const order = workspace.order(["cat"], { terminal: { columns: 80, rows: 24 }, stdin: "pipe" });
      const { running, printed, finished } = await begin(backend, order);
      running.write("line\n");
      await until(() => printed().split("line").length === 3);
      running.write("\u0004");
      expect((await finished).result.exitCode).toBe(0);
    });

    it("end when their time is over: first politely, then all of them", async () => {
      const order = workspace.order(sh(STUBBORN), { timeout: 1500 });
      const { finished } = await begin(backend, order);
      const { result, stdout } = await finished;
      expect(stdout.toString()).toBe("ready\n");
      expect(result).toMatchObject({ exitCode: 124, timedOut: true });
      expect(workspace.processes()).toEqual([]);
    });

    it("may clean up when their time is over", async () => {
      const script = `trap 'echo bye; exit 0' TERM; while :; do sleep 0.1; done`;
      const { result, stdout } = await finish(backend, workspace.order(sh(script), { timeout: 4000 }));
      expect(stdout.toString()).toBe("bye\n");
      expect(result).toMatchObject({ exitCode: 124, timedOut: true });
    });

    it("are killed, however stubborn", async () => {
      const { running, printed, finished } = await begin(backend, workspace.order(sh(STUBBORN)));
      await until(() => printed().includes("ready"));
      expect(workspace.processes().length).toBeGreaterThan(1);
      await running.kill();
      expect(workspace.processes()).toEqual([]);
      expect((await finished).result).toMatchObject({ exitCode: 137, signal: "SIGKILL", timedOut: false });
      await running.kill();
    });

    it("have exactly the environment that they are given", async () => {
      const env = { ...workspace.env, ODD: 'a b\n"c" $d', EMPTY: "", ÜMLAUT: "ß" };
      const { stdout } = await finish(backend, workspace.order(["cat", "/proc/self/environ"], { env }));
      const found = stdout.toString().split("\0").slice(0, -1).sort();
      expect(found).toEqual(
        Object.entries(env)
          .map((pair) => pair.join("="))
          .sort(),
      );
    });

    it("start in the folder that they are given, and see the workspace at its own path", async () => {
      writeFileSync(join(workspace.path, "inner", "file"), "from outside");
      const script = "pwd; cat file; echo from inside > made";
      const order = workspace.order(sh(script), { cwd: join(workspace.path, "inner") });
      const { stdout } = await finish(backend, order);
      expect(stdout.toString()).toBe(`${workspace.path}/inner\nfrom outside`);
      expect(existsSync(join(workspace.path, "inner", "made"))).toBe(true);
    });

    it("are refused an address of a cloud's metadata when they connect to it, and it is told", async () => {
      const order = workspace.order(["busybox", "nc", "-w", "1", "169.254.169.254", "80"]);
      const deed = { ...order.deed, approved: ["exfiltration", "listen"] }; // nc; not what it connects to
      const { result } = await finish(backend, { ...order, deed });
      expect(result.exitCode).not.toBe(0);
      expect(result.refusals).toEqual([
        expect.objectContaining({ what: "connect 169.254.169.254:80", times: 1 }),
      ]);
      expect(result.refusals[0]!.reason).not.toBe("");
    });

    it("are refused a file with secrets, and it is told", async () => {
      writeFileSync(join(workspace.path, ".env"), "TOKEN=of-nobody");
      const { result, stdout } = await finish(backend, workspace.order(sh("name=.en; cat $name'v'")));
      expect(stdout.toString()).not.toContain("of-nobody");
      expect(result.exitCode).not.toBe(0);
      expect(result.refusals.map(({ what }) => what)).toEqual([expect.stringContaining(".env")]);
    });

    it.each<[Answer, boolean]>([
      ["once", false],
      ["no", true],
    ])("wait at a call that a person must decide: %s", async (given, stays) => {
      const victim = join(workspace.path, `victim-${given}`);
      mkdirSync(victim);
      const asked: Question[] = [];
      const order = workspace.order(sh(`/bin/rm -r victim-${given}`), { patience: 60_000 });
      const { result } = await finish(backend, order, {
        question: (question, answer) => {
          asked.push(question);
          answer(given);
        },
      });
      expect(asked.map(({ what }) => what)).toEqual([`run /bin/rm -r victim-${given}`]);
      expect(existsSync(victim)).toBe(stays);
      expect(result.exitCode === 0).toBe(!stays);
      expect(result.refusals.length > 0).toBe(stays);
    });

    it("are refused what a person must decide where there is none", async () => {
      mkdirSync(join(workspace.path, "kept"));
      const { result } = await finish(backend, workspace.order(sh("/bin/rm -r kept"), { patience: 60_000 }));
      expect(result.exitCode).not.toBe(0);
      expect(existsSync(join(workspace.path, "kept"))).toBe(true);
    });

    it("run ten at a time and do not mix", async () => {
      const all = await Promise.all(
        Array.from({ length: 10 }, async (_, i) => {
          const { running, finished } = await begin(
            backend,
            workspace.order(sh(`cat; echo " $1"; exit ${i}`).concat(`n${i}`), { stdin: "pipe" }),
          );
          running.write(`in ${i}`);
          running.closeInput();
          const { result, stdout } = await finished;
          return [stdout.toString(), result.exitCode];
        }),
      );
      expect(all).toEqual(Array.from({ length: 10 }, (_, i) => [`in ${i} n${i}\n`, i]));
    });

    it("end when the backend is closed, and leave nothing behind", async () => {
      const runs = await Promise.all(
        [1, 2].map(() => begin(backend, workspace.order(sh(STUBBORN), { patience: 1000 }))),
      );
      await until(() => runs.every(({ printed }) => printed().includes("ready")));
      await backend.close();
      for (const { finished } of runs) expect((await finished).result.signal).toBe("SIGKILL");
      expect(workspace.processes()).toEqual([]);
      await until(() => traces().every((trace) => before.includes(trace)));
    });
  });
}
