import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { printTable } from "./print.mjs";
import { interleave } from "./stats.mjs";
import { available, HERMES, run } from "./tools.mjs";
import { longTrace } from "./trace-long.mjs";

const CALLS = "openat,read,write,close,connect,execve";
/** The accepted multiple of strace's slowdown. */
const AT_MOST = 0.6;

/** The cost of recording a program's calls with everything decoded, beside strace, and the size of the records. */
export async function trace({ rounds, quick, events }) {
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  try {
    const works = workloads(folder, quick);
    const results = works.map((work) => measure(work, folder, rounds));
    printSizes(results);
    return [...results, await longTrace({ folder, events })];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function workloads(folder, quick) {
  const repository = join(folder, "repository");
  makeRepository(repository, quick ? 30 : 120);
  const sources = makeSources(folder, quick ? 4 : 12);
  const share = quick ? ["/usr/share/perl"] : ["/usr/share/perl", "/usr/share/zoneinfo", "/usr/share/doc"];
  return [
    { name: `tar of ${share.join(" ")}`, argv: ["tar", "-cf", join(folder, "out.tar"), ...share] },
    {
      name: "git gc",
      argv: ["git", "-C", join(folder, "work"), "gc", "-q", "--aggressive", "--prune=now"],
      prepare: () => {
        rmSync(join(folder, "work"), { recursive: true, force: true });
        cpSync(repository, join(folder, "work"), { recursive: true });
      },
    },
    { name: "gcc of several files", argv: ["gcc", "-O1", "-o", join(folder, "program"), ...sources] },
  ];
}

function makeRepository(folder, commits) {
  mkdirSync(folder);
  const git = (...args) =>
    execFileSync("git", [
      "-C",
      folder,
      "-c",
      "user.name=b",
      "-c",
      "user.email=b@b",
      "-c",
      "gc.auto=0",
      ...args,
    ]);
  git("init", "-q");
  for (let i = 0; i < commits; i++) {
    for (let k = 0; k < 5; k++)
      writeFileSync(join(folder, `file-${(i * 3 + k) % 40}`), `${i}\n`.repeat(200 + k));
    git("add", "-A");
    git("commit", "-qm", `change ${i}`);
  }
}

function makeSources(folder, count) {
  const headers = ["stdio", "stdlib", "string", "math", "time", "errno", "unistd", "signal", "pthread"];
  const include = headers.map((name) => `#include <${name}.h>\n`).join("");
  return Array.from({ length: count }, (_, i) => {
    const file = join(folder, `source-${i}.c`);
    const main = i === 0 ? "int main(void) { return 0; }\n" : "";
    writeFileSync(file, `${include}int f${i}(int x) { return x * ${i} + rand(); }\n${main}`);
    return file;
  });
}

/** The same calls and details, to a file on the same disk. */
function recorders(folder) {
  const file = (name) => join(folder, name);
  const hermes = (name) => [
    HERMES,
    "run",
    "--quiet",
    "--fence",
    "none",
    "--trace",
    file(name),
    "--events",
    CALLS,
    "--",
  ];
  return [
    { name: "bare", argv: [] },
    ...(available("strace")
      ? [
          {
            name: "strace",
            argv: ["strace", "-f", "-y", "-e", `trace=${CALLS}`, "-o", file("strace.txt")],
            file: file("strace.txt"),
          },
          {
            name: "strace --seccomp-bpf",
            argv: [
              "strace",
              "-f",
              "-y",
              "--seccomp-bpf",
              "-e",
              `trace=${CALLS}`,
              "-o",
              file("strace-bpf.txt"),
            ],
            file: file("strace-bpf.txt"),
          },
        ]
      : []),
    { name: "HERMES lines", argv: hermes("t.jsonl"), file: file("t.jsonl") },
    { name: "HERMES binary", argv: hermes("t.htrace"), file: file("t.htrace") },
  ];
}

function measure(work, folder, rounds) {
  const subjects = recorders(folder);
  const samples = interleave(rounds, subjects, ({ argv }) => {
    work.prepare?.();
    const from = performance.now();
    run([...argv, ...work.argv]);
    return performance.now() - from;
  });
  const goals = ["HERMES lines", "HERMES binary"].map((subject) => ({
    subject,
    against: "strace",
    atMost: AT_MOST,
  }));
  const about = {
    ...{ name: `recording ${work.name}`, ours: "HERMES binary", bare: "bare" },
    peers: ["strace", "strace --seccomp-bpf"],
  };
  const table = printTable(`${work.name}, recording ${CALLS}`, "ms", samples, goals, about);
  return { ...table, sizes: sizesOf(subjects, folder) };
}

/** Calls are counted as lines of our JSON: all recorders get the same calls. */
function sizesOf(subjects, folder) {
  const calls = readFileSync(join(folder, "t.jsonl"), "utf8").split('\n{"kind":"syscall"').length - 1;
  return subjects
    .filter(({ file }) => file !== undefined)
    .map(({ name, file }) => ({
      name,
      calls,
      bytes: statSync(file).size,
      perCall: statSync(file).size / calls,
    }));
}

function printSizes(results) {
  process.stdout.write("\nbytes per call\n");
  for (const { title, sizes } of results) {
    const each = sizes.map(({ name, perCall }) => `${name} ${perCall.toFixed(1)}`).join(", ");
    process.stdout.write(
      `  ${title.split(",")[0]} (${sizes[0].calls.toLocaleString("en")} calls): ${each}\n`,
    );
  }
}
