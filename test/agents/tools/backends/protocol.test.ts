import { type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { RunOrder } from "../../../../src/agents/tools/backend.js";
import { RemoteBackend } from "../../../../src/agents/tools/remote/backend.js";
import { encode, FrameReader, MAX_BODY, MAX_HEAD } from "../../../../src/agents/tools/remote/frame.js";
import type { RemoteLink } from "../../../../src/agents/tools/remote/link.js";
import { REMOTE_PROTOCOL, readToNear, type ToNear } from "../../../../src/agents/tools/remote/messages.js";
import { PACKAGE_VERSION } from "../../../../src/nouns/version.js";
import { HERMES } from "../../../support/cli.js";
import { Random } from "../../../support/random.js";
import { until } from "../../../support/until.js";
import { begin, Workspace } from "./place.js";

const workspace = new Workspace();
afterAll(() => workspace.remove());

const HELLO = { type: "hello", protocol: REMOTE_PROTOCOL, version: PACKAGE_VERSION };
const READY = workspace.order(["sh", "-c", "echo ready; sleep 100"]);

function lengths(head: number, body: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(head, 0);
  bytes.writeUInt32BE(body, 4);
  return bytes;
}

describe("frames", () => {
  const all = [{ a: 1 }, { b: "ü" }, {}].map((head, i) => ({ head, body: Buffer.alloc(i * 70_000, i) }));
  const stream = Buffer.concat(all.map(({ head, body }) => encode(head, body)));

  it("come out as they went in, however the stream is cut", () => {
    const random = new Random(7);
    for (let round = 0; round < 20; round++) {
      const frames = new FrameReader();
      const found = [];
      for (let at = 0; at < stream.length; ) {
        const size = 1 + Math.floor(random.next() ** 3 * 100_000);
        found.push(...frames.push(stream.subarray(at, at + size)));
        at += size;
      }
      expect(found.map(({ head }) => head)).toEqual(all.map(({ head }) => head));
      expect(found.every(({ body }, i) => body.equals(all[i]!.body))).toBe(true);
    }
  });

  it.each([
    ["a head that is too long", lengths(MAX_HEAD + 1, 0)],
    ["a body that is too long", lengths(2, MAX_BODY + 1)],
    ["a head that is not JSON", Buffer.concat([lengths(2, 0), Buffer.from("{x")])],
  ])("are refused with %s, before anything is kept for it", (_, bytes) => {
    expect(() => [...new FrameReader().push(bytes)]).toThrow(/a frame/);
  });
});

/** The real far end. */
class Far {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly heard: ToNear[] = [];
  readonly ended: Promise<number | null>;
  stdout = "";

  constructor() {
    this.process = spawn(HERMES, ["remote"], { stdio: ["pipe", "pipe", "pipe"] });
    this.process.stdin.on("error", () => {});
    const frames = new FrameReader();
    this.process.stdout.on("data", (chunk: Buffer) => {
      for (const { head, body } of frames.push(chunk)) {
        this.heard.push(readToNear(head));
        this.stdout += body.toString();
      }
    });
    this.ended = new Promise((resolve) => this.process.once("close", resolve));
  }

  say(message: object, body?: Buffer): void {
    this.process.stdin.write(encode(message, body));
  }

  async run(order: RunOrder): Promise<void> {
    this.say({ type: "start", order, home: "theirs" });
    await until(() => this.stdout.includes("ready"));
  }

  types(): string[] {
    return this.heard.map(({ type }) => type);
  }
}

describe("the far end", () => {
  let far: Far;
  afterEach(() => far.process.kill("SIGKILL"));

  it("says hello, runs one order, tells how it went, and ends", async () => {
    far = new Far();
    far.say({ type: "start", order: workspace.order(["sh", "-c", "echo out; exit 3"]), home: "theirs" });
    expect(await far.ended).toBe(0);
    expect(far.heard[0]).toEqual(HELLO);
    expect(far.types()).toEqual(["hello", "started", "stdout", "result"]);
    expect(far.heard.at(-1)).toMatchObject({ result: { exitCode: 3, timedOut: false } });
  });

  it("takes what is said while the program starts, in order", async () => {
    far = new Far();
    far.say({ type: "start", order: workspace.order(["cat"], { stdin: "pipe" }), home: "theirs" });
    far.say({ type: "stdin" }, Buffer.from("one "));
    far.say({ type: "stdin" }, Buffer.from("two"));
    far.say({ type: "close-stdin" });
    await far.ended;
    expect(far.stdout).toBe("one two");
  });

  it.each([
    ["bytes that are no frame", () => Buffer.from("GET / HTTP/1.1\r\nHost: example\r\n\r\n")],
    ["a frame that is too long", () => lengths(2, MAX_BODY + 1)],
    ["a message that is none", () => encode({ type: "please" })],
    ["a message with a field too many", () => encode({ type: "kill", all: true })],
    ["a signal that there is not", () => encode({ type: "signal", name: "SIGNOTHING" })],
    ["a second order", () => encode({ type: "start", order: READY, home: "theirs" })],
  ])("ends what runs and says so after %s", async (_, bytes) => {
    far = new Far();
    await far.run(READY);
    far.process.stdin.write(bytes());
    await far.ended;
    expect(far.heard.at(-1)).toMatchObject({ type: "failed", code: "LINK" });
    expect(workspace.processes()).toEqual([]);
  });

  it.each([
    ["is closed", () => far.process.stdin.end()],
    [
      "is cut in the middle of a frame",
      () => far.process.stdin.end(encode({ type: "alive" }).subarray(0, 11)),
    ],
    ["has lost its reader", () => far.process.stdout.destroy() && far.process.stdin.end()],
  ])("ends what runs, however stubborn, when the link %s", async (_, cut) => {
    far = new Far();
    const stubborn = `trap "" TERM; (setsid sh -c 'trap "" TERM; sleep 100; sleep 100' &) ; echo ready; sleep 100; sleep 100`;
    await far.run(workspace.order(["sh", "-c", stubborn]));
    cut();
    await far.ended;
    expect(workspace.processes()).toEqual([]);
  });

  it("refuses to be used before there is an order, and an order that is none", async () => {
    for (const message of [{ type: "stdin" }, { type: "start", order: { argv: [] }, home: "ours" }]) {
      far = new Far();
      far.say(message);
      await far.ended;
      expect(far.types()).toEqual(["hello", "failed"]);
    }
  });

  it("does not run in surroundings that lack what was promised", async () => {
    far = new Far();
    const surroundings = { readOnly: true, network: "none", memory: 1 };
    far.say({ type: "start", order: workspace.order(["true"]), home: "ours", surroundings });
    await far.ended;
    expect(far.heard.at(-1)).toMatchObject({ type: "failed", code: "UNAVAILABLE" });
  });

  it("writes no credential out of its folder", async () => {
    for (const relative of ["../out", "/out", "a/../../out"]) {
      far = new Far();
      far.say({ type: "credential", relative }, Buffer.from("x"));
      await far.ended;
      expect(far.heard.at(-1)).toMatchObject({ type: "failed", code: "CREDENTIAL_FILE" });
    }
  });
});

describe("the near end", () => {
  const folder = mkdtempSync(join(tmpdir(), "hermes-near-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** A far side that says this and then waits. */
  function saying(...parts: Buffer[]): RemoteBackend {
    const file = join(folder, String(parts.length) + Math.random());
    writeFileSync(file, Buffer.concat(parts));
    return new (class extends RemoteBackend {
      readonly name = "ssh";
      protected connect(order: RunOrder): RemoteLink {
        const child = spawn("sh", ["-c", 'cat "$0"; exec cat > /dev/null', file], {
          stdio: ["pipe", "pipe", "pipe"],
        });
        return {
          process: child,
          where: "a test",
          order,
          home: "ours",
          credentials: [],
          explain: (code) => `it ended with ${code}`,
          sever: async () => void child.kill("SIGKILL"),
          release: async () => {},
        };
      }
    })();
  }
  const hello = encode(HELLO);
  const started = encode({ type: "started", pid: 1 });
  const question = {
    id: 4,
    call: "execve",
    what: "run x",
    subject: {},
    who: [],
    policy: "p",
    patience: 1000,
  };

  it.each([
    ["something before it said hello", [started], /is not the HERMES protocol/],
    ["hello twice", [hello, hello], /hello is unexpected here/],
    ["a frame that is too long", [hello, lengths(MAX_HEAD + 1, 0)], /sent a frame of/],
    ["a message that is none", [hello, encode({ type: "result", result: {} })], /sent an invalid message/],
  ])("gives up on a far side that says %s", async (_, parts, message) => {
    await expect(saying(...parts).start(READY, {})).rejects.toThrow(message);
  });

  it("takes back questions when a run is lost, and fails with what it is", async () => {
    const events: unknown[] = [];
    const run = await begin(
      saying(hello, started, encode({ type: "question", question }), Buffer.from("junk that is no frame")),
      READY,
      {
        question: (asked) => events.push(asked.what),
        withdrawn: (id) => events.push(id),
      },
    );
    await expect(run.finished).rejects.toMatchObject({ code: "LINK" });
    expect(events).toEqual(["run x", 4]);
  });

  it("reports failures by the code that they have over there, and unknown ones as its own", async () => {
    const failed = (code: string) => encode({ type: "failed", code, message: "over there" });
    await expect(saying(hello, failed("NOT_FOUND")).start(READY, {})).rejects.toMatchObject({
      code: "NOT_FOUND",
      exitCode: 127,
      message: "over there",
    });
    await expect(saying(hello, failed("constructor")).start(READY, {})).rejects.toMatchObject({
      code: "BACKEND",
    });
  });

  it("starts nothing when it is closed", async () => {
    const backend = saying(hello, started);
    await backend.close();
    await expect(backend.start(READY, {})).rejects.toThrow(/closed/);
  });

  it("ends a start that hangs when it is closed", async () => {
    const backend = saying(hello, encode({ type: "question", question }));
    let asked = false;
    const starting = backend.start(READY, {
      question: () => {
        asked = true;
      },
    });
    starting.catch(() => {});
    await until(() => asked);
    await backend.close();
    await expect(starting).rejects.toMatchObject({ code: "LINK" });
  });
});
