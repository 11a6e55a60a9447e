import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CallEvent, definePolicy, run } from "hermes-runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { program } from "../../support/programs.js";
import { root } from "../../support/root.js";

/** What both see of a frame: the file, the place in it, and how far that is behind the beginning of the function. */
interface Seen {
  readonly at: readonly [string, number];
  readonly name: string | null;
  readonly offset: number | null;
}

interface Job {
  readonly file: string;
  readonly args: readonly string[];
  readonly calls: readonly string[];
  /** How many stacks. */
  readonly count: number;
  /** Only writes to stdout. */
  readonly writes?: boolean;
  /** Why gdb goes wrong: from some frame on it names places where there is no code. */
  readonly gdbIsWrong?: string;
}

/** What gdb's script says of an address where nothing can run. */
const NO_CODE = "not code";
const MARKS = ["getppid", "clock_gettime"];
const C = (...flags: string[]): Job => ({
  file: program("stacks", ...flags),
  args: [],
  calls: MARKS,
  count: 10,
});
const debian = (file: string, ...args: string[]): Job => ({
  file: `/usr/bin/${file}`,
  args,
  calls: ["write"],
  count: 1,
  writes: true,
});

const folder = mkdtempSync(join(tmpdir(), "hermes-gdb-"));

const jobs: Readonly<Record<string, Job>> = {
  "C -O2": C(),
  "C -O3 with control-flow protection": C("-O3", "-fcf-protection=full"),
  "C, not position-independent": C("-no-pie", "-fno-pie"),
  "C, static": C("-static"),
  "C, static and position-independent": C("-static-pie"),
  "C without PLT, bound at once": C("-fno-plt", "-Wl,-z,now"),
  "C with .debug_frame only": C("-fno-asynchronous-unwind-tables", "-g"),
  "C++ with exceptions": { ...C(), file: program("stacks-cpp.cc"), calls: ["getppid"], count: 5 },
  python3: debian("python3", "-c", "print(sum(sorted([3, 1, 2], key=lambda x: -x)))"),
  perl: debian("perl", "-e", "sub f { print 1 + shift } f(f(2))"),
  bash: debian("bash", "-c", "f() { echo $(( $1 )); }; f 1+1"),
  dash: debian("dash", "-c", "echo a"),
  git: debian("git", "version"),
  sqlite3: debian("sqlite3", ":memory:", "select 1 + 1;"),
  curl: debian("curl", "-s", "file:///etc/hostname"),
  openssl: debian("openssl", "version"),
  sort: debian("sort", "/etc/passwd"),
  ls: debian("ls", "-l", "/etc/hostname"),
  sed: debian("sed", "-n", "1p", "/etc/passwd"),
  find: debian("find", "/etc/hostname"),
  gdb: debian("gdb", "--version"),
  node: {
    ...debian("node", "-e", "[1].map((x) => require('fs').writeSync(1, String(x)))"),
    gdbIsWrong:
      "V8's built-in functions have no unwind tables, but frame pointers, which gdb does not follow",
  },
  busybox: {
    ...debian("busybox", "echo", "a"),
    gdbIsWrong: "it has no unwind tables and no frame pointers: HERMES stops and says so, gdb guesses",
  },
  "C with frame pointers only": {
    ...C("-fno-asynchronous-unwind-tables", "-fno-omit-frame-pointer", "-O1", "-s"),
    gdbIsWrong: "without symbols it does not find where functions begin, and so not their frame pointers",
  },
};

const nothing = openSync("/dev/null", "r+");
let answers: readonly { error?: string; stacks: readonly (readonly Seen[])[] }[];

beforeAll(async () => {
  answers = await askGdb(Object.values(jobs));
}, 120_000);

afterAll(() => {
  closeSync(nothing);
  rmSync(folder, { recursive: true });
});

/** One gdb runs all programs, one after the other. */
async function askGdb(list: readonly Job[]) {
  const [questions, replies] = [join(folder, "jobs"), join(folder, "answers")];
  const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
  writeFileSync(
    questions,
    JSON.stringify(
      list.map(({ file, args, calls, count, writes }) => ({
        ...{ file, calls, count, args: args.map(quoted).join(" ") },
        ...(writes && { condition: "$rdi == 1" }),
      })),
    ),
  );
  const gdb = spawn("gdb", ["-nx", "-batch", "-x", join(root, "test/support/gdb-stacks.py")], {
    stdio: "ignore",
    env: { ...process.env, GDB_JOBS: questions, GDB_ANSWERS: replies },
  });
  await new Promise((done) => gdb.once("exit", done));
  return readFileSync(replies, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** The stacks that HERMES follows at the same calls. */
async function ourStacks({ file, args, calls, count, writes }: Job): Promise<Seen[][]> {
  const stacks: Seen[][] = [];
  const handler = (e: CallEvent) => {
    if (!calls.includes(e.name) || stacks.length >= count || e.process.exe !== resolved(file)) return;
    if (writes && e.argument(0) !== 1n) return;
    stacks.push(seen(e));
  };
  const policy = definePolicy({
    name: "stacks",
    inside: true,
    actions: ["allow"],
    on: { "*": handler }, // calls that are named are taken out of the vDSO's hands
  });
  await run({ command: [file, ...args], policy, stdio: [nothing, nothing, nothing] });
  return stacks;
}

const resolved = (file: string) => realpathSync(file);

function seen(e: CallEvent): Seen[] {
  const maps = e.maps();
  const stack = e.stack(200);
  return stack.map((frame) => {
    const map = maps.find(({ from, to }) => from <= frame.address && frame.address < to);
    const inFile = map && Number(frame.address - map.from + (map.path.startsWith("[") ? 0n : map.offset));
    return {
      at: map ? [map.path, inFile!] : ["", Number(frame.address)],
      name: frame.symbol ?? null,
      offset: frame.symbolOffset ?? null,
    };
  });
}

describe("stacks are those that gdb shows, frame by frame", () => {
  it.each(Object.entries(jobs).map(([name, job], i) => [name, job, i] as const))("%s", async (_, job, i) => {
    const ours = await ourStacks(job);
    const { stacks, error } = answers[i]!;
    expect(error).toBeUndefined();
    expect(ours).toHaveLength(job.count);
    expect(stacks).toHaveLength(job.count);
    let wrong = 0;
    for (const [k, frames] of ours.entries()) {
      let theirs = stacks[k]!;
      const lost = theirs.findIndex(({ at }) => at[0] === NO_CODE);
      if (job.gdbIsWrong !== undefined && lost >= 0) {
        wrong++;
        theirs = theirs.slice(0, lost);
      }
      let compared = lost >= 0 ? frames.slice(0, lost) : frames;
      expect(compared).toHaveLength(theirs.length);
      // A thread begins in clone3 where gdb looks, and in clone under a policy, which clone3 is not there for.
      const begins = theirs.at(-1)!;
      if (
        compared.length > 1 &&
        begins.at[1] !== compared.at(-1)!.at[1] &&
        begins.at[0] === compared.at(-1)!.at[0]
      ) {
        compared = compared.slice(0, -1);
        theirs = theirs.slice(0, -1);
      }
      expect(compared.map(({ at }) => at)).toEqual(theirs.map(({ at }) => at));
      for (const [n, frame] of compared.entries())
        if (frame.offset !== null && theirs[n]!.offset !== null)
          expect([frame.name, frame.offset], theirs[n]!.name!).toEqual([frame.name, theirs[n]!.offset]);
    }
    expect(wrong > 0, "an exception that is none any more").toBe(job.gdbIsWrong !== undefined);
  });
});
