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
 * Does a call cost more when thousands make it? Calls by one and by many, from when all are there until all have made theirs.
 * Beside it what the machine itself takes for so many: bare, and under the smallest supervisor in C that does the same. With one
 * process on any CPU it decides where the scheduler puts the supervisor; on one CPU it does not.
 */
export function scale({ rounds, quick, pinned }) {
  const { crowd, act } = buildTools();
  // Some for each: the first of a process that was just forked copies pages, whoever looks on.
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
