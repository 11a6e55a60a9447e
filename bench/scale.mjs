import { printTable } from "./print.mjs";
import { interleave } from "./stats.mjs";
import { buildTools, filterLength, hermes, run } from "./tools.mjs";

const AT_MOST = 1.3;
const CROWDS = {
  processes: { sizes: [1, 10, 100, 1000, 5000], one: "1 process" },
  threads: { sizes: [1, 10, 100, 1000], one: "1 thread" },
};
const PLACES = { "on any CPU": [], "on one CPU": ["taskset", "-c", "0"] };

/**
 * Whether a call costs more when thousands of processes make it. Calls by one process and by many, from when all have
 * started until all are done; beside it the same without HERMES: bare, and under a minimal C supervisor. On any CPU, a
 * single process depends on where the scheduler puts the supervisor; on one CPU it does not.
 */
export function scale({ rounds, quick, pinned }) {
  const { crowd, act } = buildTools();
  // Several per process: the first call after a fork copies pages, with or without a supervisor.
  const callsOf = (many) => String(quick ? Math.max(20_000, 5 * many) : Math.max(50_000, 20 * many));
  const systems = {
    "": hermes("auto", "requested"),
    "C, acting: ": [act, String(filterLength("notify", "requested"))],
    "bare: ": [],
  };
  const tables = [];
  for (const [place, pin] of Object.entries(PLACES).slice(pinned ? 1 : 0))
    for (const [what, { sizes, one }] of Object.entries(CROWDS)) {
      const nameOf = (many) => (many === 1 ? one : `${many.toLocaleString("en")} ${what}`);
      const ends = [sizes[0], sizes.at(-1)];
      const subjects = Object.entries(systems).flatMap(([system, argv]) =>
        (system === "" ? sizes : ends).map((many) => ({ name: `${system}${nameOf(many)}`, many, argv })),
      );
      const samples = interleave(rounds, subjects, ({ many, argv }) =>
        Number(run([...pin, ...argv, crowd, what, String(many), callsOf(many)]).stdout),
      );
      const most = nameOf(ends[1]);
      const goals = sizes.slice(1).map((many) => ({ subject: nameOf(many), against: one, atMost: AT_MOST }));
      const about = { name: `an open, by ${most}, ${place}`, ours: most, bare: one, peers: [] };
      tables.push(printTable(`openat + close by many ${what}, ${place}`, "ns", samples, goals, about));
    }
  return tables;
}
