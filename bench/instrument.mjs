import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { printChecks, printTable } from "./print.mjs";
import { interleave, summarise } from "./stats.mjs";
import { available, buildTools, HERMES, policyFile, run } from "./tools.mjs";

/** The cost of instrumenting a program, with and without decisions, beside common tools. */
export function instrument({ rounds, quick, pinned }) {
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  try {
    const tools = buildTools();
    const places = {
      ...(!pinned && { "on any CPU": [] }),
      ...(available("taskset") && { "on one CPU": ["taskset", "-c", "0"] }),
    };
    const decided = Object.entries(places).map(([place, pin]) =>
      hooks(tools, folder, rounds, quick, place, pin),
    );
    return [...decided, functions(tools, rounds, quick), calls(tools, rounds, quick)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const number = (argv) => Number(run(argv).stdout.trim().split("\n").at(-1));

/** A function with a decision on every call. */
function hooks(tools, folder, rounds, quick, place, pin) {
  const count = (n) => String(quick ? n / 4 : n);
  const script = join(folder, "gdb.txt");
  const words = [
    "set confirm off",
    "set breakpoint pending on",
    "break abs",
    "commands",
    "silent",
    "continue",
    "end",
  ];
  writeFileSync(script, [...words, `run ${count(800)}`, ""].join("\n"));
  const subjects = [
    { name: "one ptrace stop (C)", argv: [tools.stop, count(20_000)] },
    {
      name: "HERMES, TypeScript policy",
      argv: [
        HERMES,
        "run",
        "-q",
        "--fence",
        "none",
        "-p",
        policyFile("hook"),
        "--",
        tools.functions,
        count(20_000),
      ],
    },
    ...(available("ltrace")
      ? [{ name: "ltrace", argv: ["ltrace", "-e", "abs", "-o", "/dev/null", tools.functions, count(4000)] }]
      : []),
    ...(available("gdb")
      ? [{ name: "gdb", argv: ["gdb", "-q", "-batch", "-x", script, tools.functions] }]
      : []),
  ];
  const samples = interleave(rounds, subjects, ({ name, argv }) =>
    name === "gdb" ? Number(/^([\d.]+)$/m.exec(run([...pin, ...argv]).stdout)[1]) : number([...pin, ...argv]),
  );
  const hermes = subjects[1].name;
  const title = `a function that is decided on, ${place}`;
  const goals = [
    { subject: hermes, against: subjects[0].name, atMost: 1.5 },
    { subject: hermes, against: "ltrace", atMost: 1 / 6 },
    { subject: hermes, against: "gdb", atMost: 1 / 6 },
  ];
  const about = { name: title, ours: hermes, bare: subjects[0].name, peers: ["ltrace", "gdb"] };
  return printTable(title, "ns", samples, goals, about);
}

const MOST_NS = 60;
const OBSERVE = fileURLToPath(new URL("observe.mjs", import.meta.url));

/** A function that is only observed, in the fast tier: the extra cost of a call. */
function functions(tools, rounds, quick) {
  const count = String(quick ? 2_000_000 : 20_000_000);
  const subjects = [
    { name: "bare", argv: [tools.functions, count] },
    {
      name: "counted",
      argv: [
        HERMES,
        "coverage",
        "--count",
        "--fast",
        "-m",
        "libc",
        "-o",
        "/dev/null",
        "--",
        tools.functions,
        count,
      ],
    },
    // Few enough that the ring never fills: this measures writing a record, not reading it.
    { name: "recorded", argv: [process.execPath, OBSERVE, "libc!abs", tools.functions, "4000", "0", "20"] },
    {
      name: "recorded, what comes too fast dropped",
      argv: [process.execPath, OBSERVE, "libc!abs", tools.functions, count],
    },
  ];
  const samples = interleave(rounds, subjects, ({ argv }) => number(argv));
  const table = printTable("a function that is observed in the fast tier", "ns", samples, []);
  const bare = samples.get("bare");
  const more = subjects.slice(1).map(({ name }) => {
    const { median } = summarise(samples.get(name).map((each, round) => each - bare[round]));
    const goal = { goal: `≤ ${MOST_NS}`, holds: median <= MOST_NS };
    return { name, value: median, unit: "ns more", ...goal };
  });
  return [table, printChecks("a function that is observed, more than bare", more)];
}

/** A system call that is only observed: each with its result and time, in a file. */
function calls(tools, rounds, quick) {
  const count = (n) => String(quick ? n / 4 : n);
  const fast = [HERMES, "trace", "--fast", "-e", "trace=getppid"];
  const subjects = [
    { name: "bare", argv: [tools.calls, "ppid", count(1_000_000)] },
    {
      name: "HERMES --fast -c",
      argv: [...fast, "-c", "-o", "/dev/null", "--", tools.calls, "ppid", count(400_000)],
    },
    { name: "HERMES --fast", argv: [...fast, "-o", "/dev/null", "--", tools.calls, "ppid", count(400_000)] },
    {
      name: "HERMES, trace door",
      argv: [
        HERMES,
        "trace",
        "-e",
        "trace=getppid",
        "-o",
        "/dev/null",
        "--",
        tools.calls,
        "ppid",
        count(20_000),
      ],
    },
    ...(available("strace")
      ? [
          {
            name: "strace",
            argv: [
              "strace",
              "-f",
              "-e",
              "trace=getppid",
              "-o",
              "/dev/null",
              tools.calls,
              "ppid",
              count(20_000),
            ],
          },
        ]
      : []),
  ];
  const samples = interleave(rounds, subjects, ({ argv }) => number(argv));
  const goals = [
    { subject: "HERMES --fast -c", against: "strace", atMost: 1 / 15 },
    { subject: "HERMES --fast", against: "strace", atMost: 1 / 15 },
  ];
  const title = "a system call that is observed";
  const about = { name: title, ours: "HERMES --fast", bare: "bare", peers: ["strace"] };
  return printTable(title, "ns", samples, goals, about);
}
