import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { FunctionRecord, TraceRecord } from "../../../src/record/trace/records.js";
import { program } from "../../support/programs.js";
import { root } from "../../support/root.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-inside-"));
afterAll(() => rmSync(folder, { recursive: true }));

function hermes(...words: string[]) {
  const env = { ...process.env, LC_ALL: "C", HOME: "/root" };
  return spawnSync(join(root, "hermes"), words, {
    encoding: "utf8",
    env,
    timeout: 120_000,
    killSignal: "SIGKILL",
  });
}

/** The records of a run, of the functions only. */
function recorded(patterns: readonly string[], ...command: string[]): FunctionRecord[] {
  const file = join(folder, "t.jsonl");
  const chosen = patterns.flatMap((pattern) => ["--functions", pattern]);
  const run = hermes(
    "run",
    "-q",
    "-t",
    file,
    "-e",
    "exit_group",
    "--trace-bytes",
    "200",
    ...chosen,
    "--",
    ...command,
  );
  expect(run.status, run.stderr).toBe(0);
  return readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as TraceRecord)
    .filter((record) => record.kind === "function");
}

describe("calls of functions, seen while they are made", () => {
  it("read as C with their results, deeper ones further right", () => {
    const { stderr, status } = hermes("trace", "-l", "libc!setlocale", "-l", "libc!getenv", "--", "ls", "/");
    expect(status).toBe(0);
    expect(stderr).toMatch(
      /^libc!setlocale\(LC_ALL, "" <unfinished \.\.\.>\n( {2}libc!getenv\("\w+"\) += .*\n)+<\.\.\. libc!setlocale resumed>\) += "C"\n/,
    );
    expect(stderr).toMatch(/^libc!getenv\("QUOTING_STYLE"\) +/m);
    expect(stderr).toMatch(/\+\+\+ exited with 0 \+\+\+\n$/);
  });

  it("are all of a library's, without those that are left out, beside system calls; and counted", () => {
    const all = hermes("trace", "-c", "-l", "libc!*", "-l", "!libc!*alloc*", "-e", "openat", "--", "ls", "/");
    expect(all.status).toBe(0);
    expect(all.stdout).toBe(spawnSync("ls", ["/"], { encoding: "utf8" }).stdout);
    expect(all.stderr).toMatch(/ openat\n/);
    expect(all.stderr).toMatch(/ libc!readdir\n/);
    expect(all.stderr).toMatch(/ libc!strlen\n/); // an IFUNC
    expect(all.stderr).not.toContain("alloc");
    expect(all.stderr).not.toContain("libc!_dl_relocate");
  });

  it("tell how they ended when they did not return", () => {
    const records = recorded(["libc!*", "!libc!_*"], program("left"));
    const of = (name: string) => records.filter((record) => record.name === `libc!${name}`);
    expect(of("qsort")).toMatchObject([{ args: { n: 4, size: 4 }, left: "jump" }]);
    expect(of("exit")).toMatchObject([{ args: { status: 0 }, left: "exit" }]);
    expect(of("pthread_exit")).toMatchObject([{ left: "jump" }]); // unwound
    expect(of("access")).toMatchObject([
      { args: { path: "/nothing/there", mode: "R_OK" }, result: -1, failed: true, errno: "ENOENT" },
    ]);
    expect(of("fprintf")[0]!.args).toMatchObject({
      format: "%s %d%% of %.1f %c\n",
      "...": ["about", 50, 2.5, "'x'"],
    });
    expect(of("setenv").map(({ args, depth }) => [args.name, args.value, depth])).toEqual(
      [0, 1, 2].map((i) => [`HERMES_${i}`, "set by a thread", undefined]),
    );
    expect(new Set(of("setenv").map(({ tid }) => tid)).size).toBe(3);
    expect(of("snprintf")[0]).toMatchObject({ args: { s: "HERMES_0", size: 32, "...": [0] }, result: 8 });
  });

  it("are read by debug information where nothing better is known", () => {
    const records = recorded(["app!*", "!app!_*"], program("debugged", "-g", "-O1"));
    const of = (name: string) => records.find((record) => record.name.endsWith(`!${name}`));
    expect(of("paint")).toMatchObject({
      args: { what: "wall", colour: "BLUE", alpha: 255 },
      result: 11,
      depth: 1,
    });
    expect(of("middle")).toMatchObject({
      args: { a: { x: 0, y: 0 }, b: { x: 1, y: 4 } },
      result: { x: 0.5, y: 2 },
    });
    expect(of("walk")).toMatchObject({
      args: { list: { name: "first", values: [1, 2, 3], colour: "GREEN" } },
      result: 6,
    });
    expect(of("visit")!.depth).toBe(2);
    expect(of("main")!.args).toMatchObject({ argc: 1 });
    expect(of("walk")!.caller).toMatch(/^debugged-\w+!main$/);
  });

  it("are read by prototypes of one's own; a wrong file says where it is wrong", () => {
    const mine = join(folder, "mine.h");
    writeFileSync(
      mine,
      "flags level { LOW = 1, HIGH = 2 };\nint complain(names(level) int level, const char *format, ...) printf;\n",
    );
    const run = hermes("trace", "--prototypes", mine, "-l", "app!complain", "--", program("debugged"));
    expect(run.stderr).toContain('!complain(HIGH|0x4, "%s %.1f\\n", "x", 3)');
    writeFileSync(mine, "int complain(\n  strange x);\n");
    const wrong = hermes("trace", "--prototypes", mine, "-l", "app!complain", "--", program("debugged"));
    expect(wrong.stderr).toContain(`prototypes ${mine}:2:3: the type "strange" is not known`);
    expect(wrong.status).toBe(125);
    expect(hermes("trace", "-l", "!libc!*", "--", "true").stderr).toContain("only excludes functions");
  });

  it("of python3, curl and git", () => {
    const python = recorded(
      ["libc!getenv"],
      "/usr/bin/python3",
      "-c",
      "import ctypes; ctypes.CDLL(None).getenv(b'HOME')",
    );
    expect(python).toContainEqual(expect.objectContaining({ args: { name: "HOME" }, result: "/root" }));
    const page = join(folder, "page");
    writeFileSync(page, "hello");
    const curl = recorded(["libcurl!curl_easy_*"], "curl", "-s", `file://${page}`);
    expect(curl).toContainEqual(
      expect.objectContaining({
        args: expect.objectContaining({ option: "CURLOPT_URL", value: `file://${page}` }),
        result: "CURLE_OK",
      }),
    );
    const git = recorded(["libz!inflate"], "git", "-C", root, "cat-file", "-p", "HEAD");
    expect(git.some(({ result }) => result === "Z_STREAM_END" || result === "Z_OK")).toBe(true);
  });
});
