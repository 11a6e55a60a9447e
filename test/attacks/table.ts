import { cpus } from "node:os";
import { NOBODY, OrdinaryUser } from "../support/ordinary-user.js";
import { root } from "../support/programs.js";
import { type Attack, allAttacks, commandOf, GOALS, type Goal } from "./attacks.js";
import { type Circumstances, fight } from "./fight.js";
import { bare, type DoorName, type Fence, hermes, peers, type System } from "./systems.js";

/** npm run attacks: every attack on every system, as a table. */

const words = process.argv.slice(2);
const flag = (name: string) => words.includes(`--${name}`);
const option = (name: string) => {
  const at = words.indexOf(`--${name}`);
  return at < 0 ? undefined : words[at + 1];
};
const filters = words.filter((word, i) => !word.startsWith("--") && !words[i - 1]?.startsWith("--"));

if (flag("help")) {
  process.stdout.write(`npm run attacks -- [options] [GOAL | GOAL/NAME …]

  --attempts N       how often each race is tried (default 20000)
  --fences LIST      none,standard,strict (default: all)
  --doors LIST       auto,notify,trace (default: auto,trace)
  --peers LIST       bubblewrap,firejail,strace, or "no" (default: those that are installed)
  --users LIST       root,ordinary (default: both, as root)
  --json             one JSON object per attack

Examples: npm run attacks -- read --fences none --peers no
          npm run attacks -- exec/shebang harm --json
`);
  process.exit(0);
}

const list = <T extends string>(name: string, all: readonly T[]): T[] =>
  (option(name)?.split(",") as T[] | undefined) ?? [...all];
const attempts = Number(option("attempts") ?? 20_000);
const fences = list<Fence>("fences", ["none", "standard", "strict"]);
const doors = list<DoorName>("doors", ["auto", "trace"]);
const wantedPeers = option("peers")?.split(",");
const isRoot = process.getuid?.() === 0;
const users = list<"root" | "ordinary">("users", isRoot ? ["root", "ordinary"] : ["ordinary"]);

const systems: System[] = [
  bare,
  ...fences.flatMap((fence) => doors.map((door) => hermes(door, fence))),
  ...peers().filter(({ name }) => !wantedPeers || wantedPeers.includes(name)),
];
const attacks = allAttacks().filter(
  ({ name, goal }) => filters.length === 0 || filters.some((f) => f === goal || f === name),
);

const ordinary = new OrdinaryUser();
let escapes = 0;
try {
  for (const user of users) await tableFor(user);
} finally {
  ordinary.remove();
}
process.exit(escapes > 0 ? 1 : 0);

async function tableFor(user: "root" | "ordinary"): Promise<void> {
  const id = user === "root" ? 0 : isRoot ? NOBODY : process.getuid!();
  const c: Circumstances = {
    fighter: { uid: id, gid: id },
    build: user === "root" ? root : ordinary.folder,
    attempts,
  };
  const width = Math.max(...attacks.map(({ name }) => name.length));
  const head = systems.map(({ name }) => name.replace("hermes ", "h ").replace("standard", "std"));
  if (!flag("json")) print(`\n${`as ${user}`.padEnd(width)}  ${head.join("  ")}\n`);
  const totals = systems.map(() => 0);
  const possible: Record<string, number> = {};
  const rows = new Map<Attack, string[]>();
  const waiting = [...attacks];
  const work = async () => {
    for (let attack = waiting.shift(); attack; attack = waiting.shift()) {
      const cells = await rowFor(attack, user, c);
      rows.set(attack, cells);
      if (cells[0] === "—") continue;
      possible[attack.goal] = (possible[attack.goal] ?? 0) + 1;
      for (const [i, cell] of cells.entries()) if (cell.startsWith("ESCAPED")) totals[i]!++;
      const [first, ...others] = cells;
      const line = [first, ...others].map((cell, i) => short(cell!).padEnd(head[i]!.length)).join("  ");
      if (flag("json"))
        print(
          `${JSON.stringify({ attack: attack.name, user, ...Object.fromEntries(systems.map((s, i) => [s.name, cells[i]])) })}\n`,
        );
      else print(`${attack.name.padEnd(width)}  ${line}\n`);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, cpus().length) }, work));
  for (const [i, { name }] of systems.entries()) if (name.startsWith("hermes")) escapes += totals[i]!;
  if (flag("json")) return;
  print(
    `${"escapes".padEnd(width)}  ${totals.map((n, i) => String(n).padEnd(head[i]!.length)).join("  ")}\n`,
  );
  const counts = (Object.keys(GOALS) as Goal[]).map((goal) => `${goal} ${possible[goal] ?? 0}`);
  print(`${Object.values(possible).reduce((a, b) => a + b, 0)} attacks work bare: ${counts.join(", ")}\n`);
  const impossible = [...rows].filter(([, cells]) => cells[0] === "—").map(([{ name }]) => name);
  if (impossible.length > 0) print(`not possible here: ${impossible.join(" ")}\n`);
  for (const [attack, cells] of rows)
    for (const [i, cell] of cells.entries())
      if (systems[i]!.name.startsWith("hermes") && cell.startsWith("ESCAPED"))
        print(`  ${systems[i]!.name}: ${attack.name}: ${cell.slice(8)} (${attack.text})\n`);
}

function short(cell: string): string {
  return cell.startsWith("ESCAPED") ? "ESCAPED" : cell;
}

async function rowFor(attack: Attack, user: string, c: Circumstances): Promise<string[]> {
  const unfit =
    (attack.needs.includes("root") && user !== "root") ||
    (attack.needs.includes("ordinary") && user === "root");
  if (unfit) return ["—"];
  commandOf(attack);
  const cells: string[] = [];
  for (const system of systems) {
    const { broke } = await fight(attack, system, c);
    if (system === bare && broke === undefined) return ["—"];
    cells.push(broke === undefined ? "HELD" : system === bare ? "works" : `ESCAPED ${broke}`);
  }
  return cells;
}

function print(line: string): void {
  process.stdout.write(line);
}
