import { writeFileSync } from "node:fs";
import { printTable } from "./print.mjs";
import { interleave } from "./stats.mjs";
import { buildTools, built, HERMES, run } from "./tools.mjs";

const SIZES = [1, 10, 100, 1000, 10_000];
const GOALS = [{ subject: "10,000 rules", against: "10 rules", atMost: 1.5 }];

/** The cost of more rules: an allowed openat that none of them matches, and the start. */
export function rules({ rounds, quick }) {
  const { calls } = buildTools();
  const subjects = SIZES.map((size) => ({
    name: `${size.toLocaleString("en")} rule${size === 1 ? "" : "s"}`,
    argv: underRules(size),
  }));
  const bare = { name: "bare", argv: [] };
  const count = String(quick ? 4000 : 20_000);
  const events = interleave(rounds, [bare, ...subjects], ({ argv }) =>
    Number(run([...argv, calls, "open", count]).stdout),
  );
  const starts = interleave(Math.min(rounds, 5), [bare, ...subjects], ({ argv }) => {
    const from = performance.now();
    run([...argv, "true"]);
    return performance.now() - from;
  });
  const about = (name) => ({ name, ours: "10,000 rules", bare: "10 rules", peers: [] });
  return [
    printTable("openat + close, allowed, by the number of rules", "ns", events, GOALS, about("10,000 rules")),
    printTable("start-up, by the number of rules", "ms", starts, [], about("start with 10,000 rules")),
  ];
}

/** HERMES with this many rules. */
export function underRules(count) {
  const file = `${built}/${count}.yaml`;
  writeFileSync(file, yaml(count));
  return [HERMES, "run", "--quiet", "--door", "notify", "--no-reload", "--policy", file, "--"];
}

/** Realistic rules: some on folders, some on files, some with wildcards, none of which matches. */
function yaml(count) {
  const paths = (i) =>
    [`/srv/app${i}/secrets/**`, `/etc/app${i}.conf`, `/home/*/.config/app${i}/*.key`][i % 3];
  const all = Array.from({ length: count }, (_, i) => `  - { id: r${i}, deny: read, path: "${paths(i)}" }`);
  return `name: many\nrules:\n${all.join("\n")}\n`;
}
