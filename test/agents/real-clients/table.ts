import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../../support/root.js";
import type { Check, Outcome } from "./checks/check.js";
import { CHECKS } from "./checks.js";
import { CLIENTS } from "./clients.js";
import { type Fetched, fetchClient } from "./fetch.js";
import { record } from "./record.js";
import { Seat } from "./seat.js";

const USAGE = `npm run agents [-- options]: the real clients, from npm, against a scripted model on loopback.

  --client NAME    one of ${CLIENTS.map(({ agent }) => agent).join(", ")}; may be repeated
  --check WORDS    only checks with these words in their name
  --newest         the newest versions instead of the pinned ones
  --write          write the table into docs/how-to/hooks.md
  --record         only write down what the clients tell their hooks, for the tests (test/agents/real-clients/recorded)

HERMES_AGENTS=FOLDER keeps the clients there (default: build/agents). For the rows of whole agents it must lie outside of /tmp.
`;

const { values } = parseArgs({
  options: {
    client: { type: "string", multiple: true },
    check: { type: "string" },
    newest: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

type Table = ReadonlyMap<Check, ReadonlyMap<Fetched, Outcome>>;

async function main(): Promise<number> {
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const chosen = CLIENTS.filter(({ agent }) => !values.client || values.client.includes(agent));
  const clients = chosen.map((client) => fetchClient(client, values.newest));
  if (values.record) {
    for (const fetched of clients.filter(({ client }) => !client.wholeOnly))
      process.stdout.write(`${await record(fetched)}\n`);
    return 0;
  }
  const checks = CHECKS.filter(({ name }) => name.includes(values.check ?? ""));
  const table = await filled(checks, clients);
  process.stdout.write(`\n${shown(table, clients)}`);
  if (values.write) write(shown(table, clients));
  const all = [...table.values()].flatMap((row) => [...row.values()]);
  return all.some((found) => found !== "none" && !found.held) ? 1 : 0;
}

async function filled(checks: readonly Check[], clients: readonly Fetched[]): Promise<Table> {
  const table = new Map<Check, Map<Fetched, Outcome>>(checks.map((check) => [check, new Map()]));
  for (const fetched of clients)
    for (const check of checks) {
      const found = await tried(fetched, check);
      table.get(check)!.set(fetched, found);
      const { client, version } = fetched;
      process.stdout.write(`${client.title} ${version}: ${check.name}: ${words(found)}\n`);
    }
  return table;
}

async function tried(fetched: Fetched, { run, whole = false }: Check): Promise<Outcome> {
  if (fetched.client.wholeOnly && !whole) return "none";
  const seat = new Seat(fetched);
  try {
    return await run(seat);
  } catch (error) {
    return { held: false, why: (error as Error).stack ?? String(error) };
  } finally {
    seat.close();
  }
}

function words(found: Outcome): string {
  if (found === "none") return "–";
  return found.held ? (found.note ?? "yes") : `NO: ${found.why}`;
}

function shown(table: Table, clients: readonly Fetched[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
  const head = clients.map(({ client, version }) => `${client.title} ${version}`);
  const cell = (found: Outcome) => (found !== "none" && !found.held ? "**no**" : words(found));
  return [
    line(["", ...head]),
    line(["---", ...head.map(() => "---")]),
    ...[...table].map(([{ name }, row]) => line([name, ...clients.map((one) => cell(row.get(one)!))])),
  ].join("");
}

const BEGIN = "<!-- npm run agents -- --write -->\n";
const END = "<!-- end -->";

function write(text: string): void {
  if (values.check !== undefined || values.client)
    throw new Error("--write takes all clients and all checks");
  const file = join(root, "docs/how-to/hooks.md");
  const page = readFileSync(file, "utf8");
  const from = page.indexOf(BEGIN) + BEGIN.length;
  const to = page.indexOf(END, from);
  if (from < BEGIN.length || to < 0) throw new Error(`${file} has no place for the table`);
  writeFileSync(file, `${page.slice(0, from)}${text}${page.slice(to)}`);
}

process.exitCode = await main();
