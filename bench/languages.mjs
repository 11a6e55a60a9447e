import { writeFileSync } from "node:fs";
import { printTable } from "./print.mjs";
import { underRules } from "./rules.mjs";
import { interleave } from "./stats.mjs";
import { buildTools, built, filterLength, HERMES, policyFile, run } from "./tools.mjs";

const GOALS = {
  open: [
    { subject: "Lua", against: "C notify", atMost: 1.5 },
    { subject: "YAML, 200 rules", against: "C notify", atMost: 1.4 },
    { subject: "YAML, 5,000 rules", against: "C notify", atMost: 2 },
  ],
  pgid: [{ subject: "a rule in the filter", against: "seccomp only", atMost: 1.05 }],
};

const LUA = `hermes.actions = { "deny" }
hermes.on("openat", function(e)
  if e.requested and e.requested:sub(1, 11) == "/etc/secret" then return hermes.deny("no") end
end)
`;

/** The cost of the policy languages: an allowed openat under each, beside a minimal C supervisor at the same door. */
export function languages({ rounds, quick }) {
  const tools = buildTools();
  const length = String(filterLength("notify", "requested"));
  const file = (name, text) => {
    writeFileSync(`${built}/${name}`, text);
    return `${built}/${name}`;
  };
  const under = (policy) => [
    ...[HERMES, "run", "--quiet", "--door", "notify", "--no-reload", "--policy", policy, "--"],
  ];
  const constant = file("constant.yaml", "name: constant\nrules:\n  - { id: c, deny: getpgid() }\n");
  const opens = [
    { name: "bare", argv: [] },
    { name: "C notify", argv: [tools.notify, length] },
    { name: "C notify, acting", argv: [tools.act, length] },
    { name: "TypeScript", argv: under(policyFile("requested")) },
    { name: "TypeScript, e.path", argv: under(policyFile("canonical")) },
    { name: "Lua", argv: under(file("secret.lua", LUA)) },
    { name: "YAML, 10 rules", argv: underRules(10) },
    { name: "YAML, 200 rules", argv: underRules(200) },
    { name: "YAML, 5,000 rules", argv: underRules(5000) },
  ];
  const denied = [
    { name: "bare", argv: [] },
    { name: "seccomp only", argv: [tools.allow, length] },
    { name: "a rule in the filter", argv: under(constant) },
  ];
  const measure =
    (workload, count) =>
    ({ argv }) =>
      Number(run([...argv, tools.calls, workload, String(count)]).stdout);
  return [
    printTable(
      "openat + close, allowed by each language",
      "ns",
      interleave(rounds, opens, measure("open", quick ? 4000 : 20_000)),
      GOALS.open,
      { name: "an open, decided in Lua", ours: "Lua", bare: "bare", peers: [] },
    ),
    printTable(
      "getpgid, refused by a rule that is decided in the filter",
      "ns",
      interleave(rounds, denied, measure("pgid", quick ? 100_000 : 500_000)),
      GOALS.pgid,
      { name: "a call refused in the filter", ours: "a rule in the filter", bare: "bare", peers: [] },
    ),
  ];
}
