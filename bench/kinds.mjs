import { mkdirSync } from "node:fs";
import { printTable } from "./print.mjs";
import { interleave } from "./stats.mjs";
import { available, buildTools, built, HERMES, root, run, STRACE } from "./tools.mjs";

/** Kinds of calls in bench/programs/calls.c, and how many of each are timed together. */
const KINDS = [
  { kind: "open", name: "openat + close of a file", count: 20_000 },
  { kind: "link", name: "open + close of a library behind a link", count: 20_000 },
  { kind: "missing", name: "open of what is not there", count: 20_000 },
  { kind: "make", name: "a new file, closed and removed", count: 5000 },
  { kind: "folder", name: "a new folder, removed", count: 5000 },
  { kind: "mode", name: "fchmod by a descriptor", count: 20_000 },
  { kind: "seek", name: "execve of what is not there, as in a folder of PATH", count: 2000 },
  { kind: "start", name: "a program that is started and waited for", count: 300 },
];
const PLACES = { "on any CPU": [], "on one CPU": ["taskset", "-c", "0"] };

/**
 * The cost of each kind of call under policies/agent.yaml with a warm verdict cache, beside strace, which only observes.
 */
export function kinds({ rounds, quick, pinned, cannot }) {
  const { calls } = buildTools();
  mkdirSync(built, { recursive: true });
  const agent = [HERMES, "run", "--quiet", "--policy", `${root}policies/agent.yaml`, "-C", built, "--"];
  const subjects = [
    { name: "bare", argv: [] },
    { name: "HERMES enforce", argv: agent },
  ];
  if (available("strace"))
    subjects.push({ name: "strace", argv: [...STRACE.with(-3, "trace=openat,execve")] });
  else cannot("strace", "it is not installed");
  return Object.entries(PLACES)
    .slice(pinned ? 1 : 0)
    .flatMap(([place, pin]) =>
      KINDS.map(({ kind, name, count }) => {
        const times = quick ? Math.ceil(count / 5) : count;
        const samples = interleave(rounds, subjects, ({ argv }) =>
          Number(run([...pin, ...argv, calls, kind, String(times)]).stdout),
        );
        const about = { name: `${name}, ${place}`, ours: "HERMES enforce", bare: "bare", peers: ["strace"] };
        return printTable(`${name}, ${place}`, "ns", samples, [], about);
      }),
    );
}
