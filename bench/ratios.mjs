import { printTable } from "./print.mjs";
import { underRules } from "./rules.mjs";
import { interleave, ratioOf } from "./stats.mjs";
import { available, buildTools, filterLength, HERMES, hermes, run } from "./tools.mjs";

const ROUNDS = 3;
/** Other load may spoil some rounds, even all of a minute: only a ratio that is bad in every try is bad. */
const TRIES = 3;

/**
 * The ratios that CI checks. Each bound is about three times the measured value, so that a loaded machine passes and a
 * gross regression does not. `subject` and `against` are commands; their figure is what they print, or else their run time.
 */
export function heldRatios() {
  const { calls, act, allow } = buildTools();
  const length = String(filterLength("notify", "requested"));
  const opens = [calls, "open", "3000"];
  const asks = [calls, "ppid", "100000"];
  return [
    {
      name: "an open that is decided, beside the smallest supervisor in C that cannot be raced",
      subject: [...hermes("notify", "requested"), ...opens],
      against: [act, length, ...opens],
      atMost: 8,
    },
    {
      name: "an unsubscribed call, beside a filter alone",
      subject: [...hermes("notify", "requested"), ...asks],
      against: [allow, length, ...asks],
      atMost: 3,
    },
    {
      name: "hermes run -- true, beside node -e 0",
      subject: [HERMES, "run", "--quiet", "--", "true"],
      against: [process.execPath, "-e", "0"],
      atMost: 9,
      pinned: false, // its threads run in parallel
    },
    {
      name: "1,000 rules, beside 10",
      subject: [...underRules(1000), ...opens],
      against: [...underRules(10), ...opens],
      atMost: 3,
    },
  ];
}

/** Measures a ratio in alternation; repeats when it seems exceeded. Returns the best try. */
export function gauge(held, { rounds = ROUNDS, tries = TRIES } = {}) {
  let best = gaugeOnce(held, rounds);
  for (let i = 1; i < tries && !best.holds; i++) {
    const next = gaugeOnce(held, rounds);
    if (next.ratio.median < best.ratio.median) best = next;
  }
  return best;
}

function gaugeOnce({ subject, against, atMost, pinned = true }, rounds) {
  const pin = pinned && available("taskset") ? ["taskset", "-c", "0"] : [];
  const subjects = [
    { name: "against", argv: against },
    { name: "subject", argv: subject },
  ];
  const samples = interleave(rounds, subjects, ({ argv }) => figureOf([...pin, ...argv]));
  const ratio = ratioOf(samples.get("subject"), samples.get("against"));
  return { ratio, holds: ratio.median <= atMost, samples };
}

function figureOf(argv) {
  const from = performance.now();
  const { stdout } = run(argv);
  const took = performance.now() - from;
  return stdout === "" ? took : Number(stdout);
}

/** The same as a scenario, to choose the bounds. */
export function ratios({ rounds }) {
  return heldRatios().map((held) => {
    const { samples } = gauge(held, { rounds, tries: 1 });
    const goals = [{ subject: "subject", against: "against", atMost: held.atMost }];
    return printTable(held.name, "ns or ms", samples, goals);
  });
}
