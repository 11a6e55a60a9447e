import { printTable } from "./print.mjs";
import { interleave } from "./stats.mjs";
import { buildTools, hermes, run } from "./tools.mjs";

const AT_MOST = 1.3;
const CROWDS = { processes: [1, 10, 100, 1000, 5000], threads: [1, 10, 100, 1000] };

/**
 * Does a call cost more when thousands make it? The same number of calls, by one and by many, from when all are there until all
 * have made theirs; and bare, since what the machine itself takes for so many is not ours.
 */
export function scale({ rounds, quick }) {
  const { crowd } = buildTools();
  const calls = quick ? 50_000 : 100_000;
  return Object.entries(CROWDS).map(([what, sizes]) => {
    const subjects = sizes.map((many) => ({
      ...{ name: crowdOf(many, what), many, argv: hermes("auto", "requested") },
    }));
    const bare = [sizes[0], sizes.at(-1)].map((many) => ({
      ...{ name: `bare, ${crowdOf(many, what)}`, many, argv: [] },
    }));
    const samples = interleave(rounds, [...subjects, ...bare], ({ many, argv }) =>
      Number(run([...argv, crowd, what, String(many), String(calls)]).stdout),
    );
    const [one] = subjects;
    const goals = subjects
      .slice(1)
      .map(({ name }) => ({ subject: name, against: one.name, atMost: AT_MOST }));
    const most = subjects.at(-1).name;
    const about = { name: `an open, by ${most}`, ours: most, bare: one.name, peers: [] };
    return printTable(`openat + close, mediated, by many ${what}`, "ns", samples, goals, about);
  });
}

const crowdOf = (many, what) =>
  many === 1 ? `1 ${what.replace(/(ss)?e?s$/, "$1")}` : `${many.toLocaleString("en")} ${what}`;
