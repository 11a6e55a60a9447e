import { progress } from "./progress.mjs";

/** The quantile of the samples. */
function quantile(samples, part) {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const low = Math.floor(at);
  return sorted[low] + (sorted[Math.ceil(at)] - sorted[low]) * (at - low);
}

/** Median and interquartile range. On a shared machine, mean and extremes measure other load. */
export function summarise(samples) {
  return { median: quantile(samples, 0.5), low: quantile(samples, 0.25), high: quantile(samples, 0.75) };
}

const WANTED_LEVEL = 0.95;

/**
 * A distribution-free confidence interval of the median: each sample is above or below it like a coin toss. Returns the
 * narrowest pair of samples with the wanted level; with few samples the outermost pair, with its own level.
 */
export function confidence(samples) {
  const sorted = samples.toSorted((a, b) => a - b);
  const n = sorted.length;
  let [place, level, below] = [0, 0, 0];
  let chance = 0.5 ** n; // the chance that exactly k samples are below the median
  for (let k = 0; k < n / 2; k++) {
    below += chance;
    chance = (chance * (n - k)) / (k + 1);
    if (k > 0 && 1 - 2 * below < WANTED_LEVEL) break;
    [place, level] = [k, Math.max(0, 1 - 2 * below)];
  }
  return { low: sorted[place], high: sorted[n - 1 - place], level };
}

/** Compares only samples of the same round, which were taken next to each other. */
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

/** A goal bounds a ratio, never a time. */
export function judge(goals, samples) {
  return goals
    .filter(({ subject, against }) => samples.has(subject) && samples.has(against))
    .map(({ subject, against, atMost }) => {
      const ratio = ratioOf(samples.get(subject), samples.get(against));
      return { subject, against, atMost, ratio, holds: ratio.median <= atMost };
    });
}
