import { progress } from "./progress.mjs";

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

const WANTED_LEVEL = 0.95;

/**
 * Between which two samples the true median lies, whatever the distribution: each sample is on either side of it like a
 * coin. The narrowest such pair with the wanted level; of few samples the outermost, with the level that they have.
 */
export function confidence(samples) {
  const sorted = samples.toSorted((a, b) => a - b);
  const n = sorted.length;
  let [place, level, below] = [0, 0, 0];
  let chance = 0.5 ** n; // that exactly k samples lie below the median
  for (let k = 0; k < n / 2; k++) {
    below += chance;
    chance = (chance * (n - k)) / (k + 1);
    if (k > 0 && 1 - 2 * below < WANTED_LEVEL) break;
    [place, level] = [k, Math.max(0, 1 - 2 * below)];
  }
  return { low: sorted[place], high: sorted[n - 1 - place], level };
}

/** Samples of one round were taken next to each other, so they are compared with each other only. */
export function ratioOf(samples, against) {
  return summarise(ratiosOf(samples, against));
}

export function ratiosOf(samples, against) {
  return samples.map((sample, round) => sample / against[round]);
}

/** Every subject once per round, in turn: a noisy minute hits all of them alike. */
export function interleave(rounds, subjects, measure) {
  const samples = new Map(subjects.map((subject) => [subject.name, []]));
  for (let round = 0; round < rounds; round++)
    for (const subject of subjects) {
      progress(`  round ${round + 1} of ${rounds}: ${subject.name}`);
      samples.get(subject.name).push(measure(subject));
    }
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
