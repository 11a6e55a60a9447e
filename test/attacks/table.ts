import { cpus } from "node:os";
import { allAttacks, GOALS, type Goal } from "./attacks.js";
import { Campaign, combinations, type Result, USERS, type User } from "./campaign.js";
import { OPEN } from "./known.js";
import { peers } from "./peers.js";
import { POLICIES, shippedSystems } from "./shipped.js";
import { showSupervisorCalls } from "./supervisor-calls.js";
import { type DoorName, type Fence, hermes, type System } from "./systems.js";

/** npm run attacks: every attack on every system that promises to hold it, as a table. */

const words = process.argv.slice(2);
const FLAGS = ["help", "json", "strace", "verbose", "list"];
const isFlag = (word: string) => FLAGS.includes(word.slice(2));
const flag = (name: string) => words.includes(`--${name}`);
const filters = words.filter(
  (word, i) => !word.startsWith("--") && !(words[i - 1]?.startsWith("--") && !isFlag(words[i - 1]!)),
);

const HELP = `npm run attacks -- [options] [GOAL | GOAL/NAME …]

  --policy LIST      arena (rules of its own for each goal), fence (a strict fence alone), tools (hermes exec), or one that
                     comes with HERMES: ${POLICIES.filter((p) => !["arena", "fence", "tools"].includes(p)).join(", ")} (default: all)
  --door LIST        auto,notify,trace (default: all)
  --fence LIST       none,standard,strict (default: all)
  --user LIST        root,ordinary (default: both, as root)
  --peers LIST       bubblewrap,firejail,strace, or "no" (default: those that are installed, with the arena's rules)
  --attempts N       how often each race is tried; a tenth of it with shipped policies (default 20000)
  --at-once N        how many are made at once (default: one per CPU)
  --part K/N         the K-th of N parts, each with some of everything
  --list             what would be made
  --json             one JSON object per combination, and one at the end
  --strace           instead: the system calls in which the supervisor names what a hostile program named
  --verbose          with --strace: each of them; else: each result

Examples: npm run attacks -- read --policy arena --fence none --peers no
          npm run attacks -- reach --policy agent,untrusted --fence strict --user ordinary
          npm run attacks -- exec/shebang harm --json

The exit status is 1 when something escaped that test/attacks/known.ts does not name, or an attack never began.
`;

/** One of several words, each of them known; "doors" is an older name of "door". */
function list<T extends string>(name: string, all: readonly T[]): T[] {
  const at = words.findIndex((word) => word === `--${name}` || word === `--${name}s`);
  const given = at < 0 ? undefined : words[at + 1]?.split(",");
  const unknown = given?.find((word) => !all.includes(word as T));
  if (unknown !== undefined) fail(`--${name} ${unknown}: one of ${all.join(", ")}`);
  return (given as T[] | undefined) ?? [...all];
}

function number(name: string, preset: number): number {
  const at = words.indexOf(`--${name}`);
  const value = at < 0 ? preset : Number(words[at + 1]);
  return value > 0 ? value : fail(`--${name} takes a number`);
}

/** --part 2/5: of five parts the second, each with some of everything. */
function partOf<T>(all: readonly T[]): T[] {
  const at = words.indexOf("--part");
  if (at < 0) return [...all];
  const [, part, parts] =
    /^(\d+)\/(\d+)$/.exec(words[at + 1] ?? "") ?? fail("--part takes words such as 2/5");
  // Systems come in rows: a stride that has no factor in common with their number mixes them.
  return all.filter(
    (_, i) => (i * 7919 + Math.floor(i / Number(parts))) % Number(parts) === Number(part) - 1,
  );
}

function fail(message: string): never {
  process.stderr.write(`attacks: ${message}\n`);
  process.exit(2);
}

function chosenSystems(): System[] {
  const policies = list<string>("policy", POLICIES);
  const doors = list<DoorName>("door", ["auto", "notify", "trace"]);
  const fences = list<Fence>("fence", ["none", "standard", "strict"]);
  const found = peers();
  const others = words.includes("--peers") && words[words.indexOf("--peers") + 1] === "no" ? [] : found;
  const names = list("peers", ["no", "bubblewrap", "firejail", "strace"]);
  return [
    ...doors.flatMap((door) => fences.map((fence) => hermes(door, fence))),
    ...shippedSystems(doors, fences),
    ...(policies.includes("arena") ? others.filter(({ name }) => names.includes(name as "strace")) : []),
  ].filter(({ kind }) => !kind || policies.includes(kind.policy));
}

const print = (line: string) => process.stdout.write(`${line}\n`);

/** One line that is written anew on a terminal, and now and then elsewhere. */
class Progress {
  readonly #all: number;
  readonly #begin = Date.now();
  #made = 0;
  #escapes = 0;
  #told = Date.now();

  constructor(all: number) {
    this.#all = all;
  }

  tell({ attack, system, user, end }: Result): void {
    this.#made++;
    if (end === "escaped") this.#escapes++;
    const seconds = (Date.now() - this.#begin) / 1000;
    const left = Math.ceil(((seconds / this.#made) * (this.#all - this.#made)) / 60);
    const last = `${system.name}, ${user}: ${attack.name}`;
    const line = `${this.#made} of ${this.#all}, ${this.#escapes} escaped, ${left} min left; ${last} ${end}`;
    if (process.stderr.isTTY)
      process.stderr.write(`\r\x1b[K${line.slice(0, (process.stderr.columns ?? 80) - 1)}`);
    else if (Date.now() - this.#told > 20_000 || this.#made === this.#all) {
      process.stderr.write(`${line}\n`);
      this.#told = Date.now();
    }
    if (process.stderr.isTTY && this.#made === this.#all) process.stderr.write("\r\x1b[K");
  }
}

/** Systems down, goals across: how many were held of how many. */
function table(results: readonly Result[], user: User): void {
  const ofUser = results.filter((r) => r.user === user && r.end !== "impossible");
  if (ofUser.length === 0) return;
  const goals = (Object.keys(GOALS) as Goal[]).filter((goal) => ofUser.some((r) => r.attack.goal === goal));
  const names = [...new Set(ofUser.map((r) => r.system.name))];
  const width = Math.max(...names.map((name) => name.length), 12);
  print(`\n${`as ${user}: held`.padEnd(width)}  ${goals.map((goal) => goal.padStart(8)).join("")}   escaped`);
  for (const name of names) {
    const own = ofUser.filter((r) => r.system.name === name);
    const cells = goals.map((goal) => {
      const made = own.filter((r) => r.attack.goal === goal);
      const held = made.filter((r) => r.end === "held").length;
      return (
        made.length === 0 ? "" : held === made.length ? String(held) : `${held}/${made.length}`
      ).padStart(8);
    });
    const known = own.filter((r) => r.end === "known").length;
    const escaped = own.filter((r) => r.end === "escaped").length;
    print(`${name.padEnd(width)}  ${cells.join("")}   ${escaped}${known > 0 ? ` and ${known} known` : ""}`);
  }
}

function details(results: readonly Result[]): void {
  for (const [end, title] of [
    ["known", "known, or open (test/attacks/known.ts)"],
    ["void", "NEVER BEGAN: this shows nothing"],
    ["escaped", "ESCAPED"],
  ] as const) {
    const such = results.filter((r) => r.end === end && (r.system.kind || end === "escaped"));
    if (such.length > 0) print(`\n${title}`);
    const lines = such.map(
      (r) => `  ${r.attack.name}: ${r.system.name}, ${r.user}: ${r.what.split("\n")[0]}`,
    );
    for (const line of lines.sort()) print(line);
  }
  for (const [attack, of, why] of OPEN) {
    const made = results.filter(
      (r) => r.end !== "impossible" && r.system.kind && attack.test(r.attack.name) && of.test(r.system.name),
    );
    if (made.length > 0 && made.every((r) => r.end === "held"))
      print(`\nheld ${made.length} times, and still called open in known.ts: ${attack.source} (${why})`);
  }
  const impossible = results.filter((r) => r.end === "impossible").map((r) => `${r.attack.name} (${r.user})`);
  if (impossible.length > 0) print(`\nnot possible here: ${[...new Set(impossible)].sort().join(" ")}`);
}

const plain = ({ attack, system, user, end, what }: Result) => ({
  attack: attack.name,
  system: system.name,
  ...system.kind,
  user,
  end,
  ...(what && { what }),
});

async function campaign(): Promise<boolean> {
  const attacks = allAttacks().filter(
    ({ name, goal }) => filters.length === 0 || filters.some((f) => f === goal || f === name),
  );
  if (attacks.length === 0) fail(`no attack is called ${filters.join(" or ")}`);
  const all = partOf(combinations(attacks, chosenSystems(), list<User>("user", USERS)));
  if (flag("list")) {
    for (const { attack, system, user } of all) print(`${attack.name}  ${system.name}  ${user}`);
    return true;
  }
  const campaign = new Campaign(number("attempts", 20_000));
  const progress = new Progress(all.length);
  const report = (result: Result) => {
    progress.tell(result);
    if (flag("json")) print(JSON.stringify(plain(result)));
    else if (flag("verbose"))
      print(`${result.attack.name}  ${result.system.name}  ${result.user}  ${result.end}`);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => campaign.stop());
  try {
    const results = await campaign.run(all, number("at-once", Math.max(1, cpus().length)), report);
    const ours = results.filter((r) => r.system.kind);
    const count = (end: Result["end"]) => ours.filter((r) => r.end === end).length;
    const ends = {
      held: count("held"),
      escaped: count("escaped"),
      known: count("known"),
      void: count("void"),
    };
    if (flag("json")) print(JSON.stringify({ made: ours.length, ...ends }));
    else {
      for (const user of USERS) table(results, user);
      details(results);
      print(`\n${ends.held} held, ${ends.escaped} escaped, ${ends.known} known, ${ends.void} never began`);
    }
    return ends.escaped === 0 && ends.void === 0;
  } finally {
    campaign.remove();
  }
}

if (flag("help")) {
  process.stdout.write(HELP);
  process.exit(0);
}
const isFine = flag("strace") ? await showSupervisorCalls(flag("verbose"), flag("json")) : await campaign();
process.exitCode = isFine ? 0 : 1; // and not exit(): what is printed into a pipe would be cut off
