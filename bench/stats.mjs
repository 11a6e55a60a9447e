/** The value below which the given part of the samples lies. */
function quantile(samples, part) {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const low = Math.floor(at);
  return sorted[low] + (sorted[Math.ceil(at)] - sorted[low]) * (at - low);
}

/** Median and the middle half. Machines are shared: the mean and the extremes belong to the neighbours. */
export function summarise(samples) {
  return { median: quantile(samples, 0.5), low: quantile(samples, 0.25), high: quantile(samples, 0.75) };
}

/** Samples of one round were taken next to each other, so they are compared with each other only. */
export function ratioOf(samples, against) {
  return summarise(samples.map((sample, round) => sample / against[round]));
}

/** Every subject once per round, in turn: a noisy minute hits all of them alike. */
export function interleave(rounds, subjects, measure) {
  const samples = new Map(subjects.map((subject) => [subject.name, []]));
  for (let round = 0; round < rounds; round++)
    for (const subject of subjects) samples.get(subject.name).push(measure(subject));
  return samples;
}

/** A goal is a bound on a ratio, never on a time. */
export function judge(goals, samples) {
  return goals
    .filter(({ subject, against }) => samples.has(subject) && samples.has(against))
    .map(({ subject, against, atMost }) => {
      const ratio = ratioOf(samples.get(subject), samples.get(against));
      return { subject, against, atMost, ratio, holds: ratio.median <= atMost };
    });
}

const spread = ({ median, low, high }, digits) =>
  `${median.toFixed(digits)} [${low.toFixed(digits)}–${high.toFixed(digits)}]`;

/** One line per subject: its time, how it compares with the first, and the goals that concern it. */
export function printTable(title, unit, samples, goals) {
  const [baseline] = samples.keys();
  const judged = judge(goals, samples);
  const rows = [...samples].map(([name, times]) => [
    name,
    spread(summarise(times), unit === "ms" ? 1 : 0),
    `${ratioOf(times, samples.get(baseline)).median.toFixed(2)}×`,
    judged
      .filter((goal) => goal.subject === name)
      .map(
        (g) => `${g.holds ? "✓" : "✗"} ${spread(g.ratio, 2)} × ${g.against} (goal ≤ ${g.atMost.toFixed(2)})`,
      )
      .join("   "),
  ]);
  const all = [["", `${unit} [middle half]`, `× ${baseline}`, "goals"], ...rows];
  const widths = [0, 1, 2].map((i) => Math.max(...all.map((row) => row[i].length)));
  process.stdout.write(`\n${title}\n`);
  for (const [name, ...cells] of all)
    process.stdout.write(
      `  ${name.padEnd(widths[0])}  ${cells[0].padStart(widths[1])}  ${cells[1].padStart(widths[2])}  ${cells[2]}\n`,
    );
  return {
    title,
    unit,
    rows: Object.fromEntries([...samples].map(([name, times]) => [name, summarise(times)])),
    goals: judged,
  };
}
