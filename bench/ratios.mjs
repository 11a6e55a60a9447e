import { printTable } from "./print.mjs";
import { underRules } from "./rules.mjs";
import { interleave, ratioOf } from "./stats.mjs";
import { available, buildTools, filterLength, HERMES, hermes, run } from "./tools.mjs";

const ROUNDS = 3;
/** A neighbour may spoil some rounds, even all of a minute's: only what is slow each time is slow. */
const TRIES = 3;

/**
 * The ratios that are held, each within about three times what is measured: a loaded machine does not reach that, a gross loss
 * does. `subject` and `against` are commands; what they print is their figure, or else the time that they take.
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
      name: "a call that nobody asked for, beside a filter alone",
      subject: [...hermes("notify", "requested"), ...asks],
      against: [allow, length, ...asks],
      atMost: 3,
    },
    {
      name: "hermes run -- true, beside node -e 0",
      subject: [HERMES, "run", "--quiet", "--", "true"],
      against: [process.execPath, "-e", "0"],
      atMost: 9,
      pinned: false, // it has threads, and they run at the same time
    },
    {
      name: "1,000 rules, beside 10",
      subject: [...underRules(1000), ...opens],
      against: [...underRules(10), ...opens],
      atMost: 3,
    },
  ];
}

/** Measures one in turn with what it is beside; again when it seems lost. Returns the best of the tries. */
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

/** The same as a scenario, to see what the bounds should be. */
export function ratios({ rounds }) {
  return heldRatios().map((held) => {
    const { samples } = gauge(held, { rounds, tries: 1 });
    const goals = [{ subject: "subject", against: "against", atMost: held.atMost }];
    return printTable(held.name, "ns or ms", samples, goals);
  });
}
