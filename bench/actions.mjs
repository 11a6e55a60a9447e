import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { printTable } from "./print.mjs";
import { interleave } from "./stats.mjs";
import { buildTools, built, HERMES, run } from "./tools.mjs";

/** A verdict on an openat of /etc/passwd, and what a policy has to declare for it. */
const ACTIONS = [
  { name: "allow, nothing looked at", actions: ["deny"], answer: "undefined" },
  { name: "allow, as it was asked for", actions: ["deny"], look: "requested", answer: "undefined" },
  { name: "allow, where it leads", actions: ["deny"], look: "path", answer: "undefined" },
  { name: "deny", actions: ["deny"], look: "requested", answer: 'deny("no")' },
  { name: "emulate", actions: ["emulate"], look: "requested", answer: "emulate(1000)" },
  { name: "emulate a file", actions: ["emulate"], look: "requested", answer: 'virtualFile("x")' },
  { name: "fault", actions: ["fault"], look: "requested", answer: 'fault({ errno: "EIO" })' },
  { name: "redirect", actions: ["modify"], look: "requested", answer: 'redirect("/etc/hostname")' },
  {
    name: "modify an argument",
    actions: ["modify"],
    look: "requested",
    answer: "modify({ args: { mode: 0o600 } })",
  },
  {
    name: "modify a result",
    actions: ["modify"],
    look: "requested",
    answer: "modify({ result: -5 })",
    on: "returns",
  },
];
const DOORS = ["notify", "trace"];
const TRIED = 10;

/** The cost of each verdict at each door: openat + close of one file. */
export function actions({ rounds, quick, cannot }) {
  const { calls } = buildTools();
  mkdirSync(`${built}/actions`, { recursive: true });
  const count = String(quick ? 2000 : 10_000);
  return DOORS.map((door) => {
    const subjects = [{ name: "bare", argv: [] }];
    for (const action of ACTIONS) {
      const file = fileOf(action);
      const under = (how) => [HERMES, "run", how, "--door", door, "--policy", file, "--"];
      const why = refusal(action, [...under("--json"), calls, "try", String(TRIED)]);
      if (why) cannot(`${action.name}, ${door} door`, why);
      else subjects.push({ name: action.name, argv: under("--quiet") });
    }
    const samples = interleave(rounds, subjects, ({ argv }) =>
      Number(run([...argv, calls, "try", count]).stdout),
    );
    const about = { name: `an open refused, ${door} door`, ours: "deny", bare: "bare", peers: [] };
    return printTable(`openat + close by action, ${door} door`, "ns", samples, [], about);
  });
}

function fileOf({ name, actions, look, answer, on = "on" }) {
  const file = `${built}/actions/${name.replace(/\W+/g, "-")}.ts`;
  const handler = look ? `(e) => (e.${look} === "/etc/passwd" ? ${answer} : undefined)` : `() => ${answer}`;
  writeFileSync(
    file,
    `import { definePolicy, deny, emulate, fault, modify, redirect, virtualFile } from "hermes-runtime";\n` +
      `export default definePolicy({ name: "action", actions: ${JSON.stringify(actions)}, ${on}: { openat: ${handler} } });\n`,
  );
  return file;
}

/** Why a door cannot do it; undefined when it can and did. */
function refusal({ actions: [action], answer }, [program, ...words]) {
  const { status, stderr } = spawnSync(program, words, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (status !== 0) return stderr.trim().split("\n")[0];
  const { summary, problems } = JSON.parse(stderr.trim().split("\n").at(-1));
  const done = summary.byAction[action] ?? 0;
  if (answer === "undefined" || done >= TRIED) return undefined;
  return problems[0] ?? `it was done ${done} times of ${TRIED}`;
}
