import { interleave, printTable } from "./stats.mjs";
import { available, HERMES, hermes, run } from "./tools.mjs";

const GOALS = [{ subject: "hermes run -- true", against: "node -e 0", atMost: 2 }];

/** From nothing to the end of a program that does nothing. */
export function start({ rounds }) {
  const subjects = [
    { name: "true", argv: ["true"] },
    { name: "node -e 0", argv: ["node", "-e", "0"] },
    { name: "hermes run -- true", argv: [HERMES, "run", "--quiet", "--", "true"] },
    { name: "hermes run --policy … -- true", argv: [...hermes("auto", "requested"), "true"] },
  ];
  if (available("strace"))
    subjects.push({ name: "strace true", argv: ["strace", "-o", "/dev/null", "true"] });
  const samples = interleave(rounds * 2, subjects, ({ argv }) => {
    const from = performance.now();
    run(argv);
    return performance.now() - from;
  });
  return [printTable("start to end", "ms", samples, GOALS)];
}
