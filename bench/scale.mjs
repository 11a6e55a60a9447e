import { interleave, printTable } from "./stats.mjs";
import { buildTools, hermes, run } from "./tools.mjs";

const AT_MOST = 1.3;
const CROWDS = { processes: [1, 100, 1000, 5000], threads: [1, 100, 1000] };

/** Does a call cost more when thousands make it? The same number of calls, by one and by many. */
export function scale({ rounds, quick }) {
  const { crowd } = buildTools();
  const calls = quick ? 5000 : 20_000;
  return Object.entries(CROWDS).map(([what, sizes]) => {
    const subjects = sizes.map((many) => ({ name: `${many.toLocaleString("en")} ${what}`, many }));
    const samples = interleave(rounds, subjects, ({ many }) =>
      Number(run([...hermes("auto", "requested"), crowd, what, String(many), String(calls)]).stdout),
    );
    const [one] = subjects;
    const goals = subjects
      .slice(1)
      .map(({ name }) => ({ subject: name, against: one.name, atMost: AT_MOST }));
    return printTable(`openat + close, mediated, by many ${what}`, "ns", samples, goals);
  });
}
