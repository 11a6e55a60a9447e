import { parseArgs } from "node:util";
import type { Outcome } from "./checks/check.js";
import { CHECKS } from "./checks.js";
import { CLIENTS } from "./clients.js";
import { type Fetched, fetchClient } from "./fetch.js";
import { Seat } from "./seat.js";

const USAGE = `npm run agents [-- options]: the real clients, from npm, against a scripted model on loopback.

  --client NAME    one of ${CLIENTS.map(({ agent }) => agent).join(", ")}; may be repeated
  --check WORDS    only checks with these words in their name
  --newest         the newest versions instead of the pinned ones
  --write          write the table into docs/hooks.md
`;

const { values } = parseArgs({
  options: {
    client: { type: "string", multiple: true },
    check: { type: "string" },
    newest: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

async function main(): Promise<number> {
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const clients = CLIENTS.filter(({ agent }) => !values.client || values.client.includes(agent));
  const checks = CHECKS.filter(({ name }) => name.includes(values.check ?? ""));
  let broken = 0;
  for (const client of clients) {
    const fetched = fetchClient(client, values.newest);
    for (const check of checks) {
      const found = await tried(fetched, check.run);
      if (found !== "none" && !found.held) broken++;
      process.stdout.write(`${client.title} ${fetched.version}: ${check.name}: ${words(found)}\n`);
    }
  }
  return broken === 0 ? 0 : 1;
}

async function tried(fetched: Fetched, run: (seat: Seat) => Promise<Outcome>): Promise<Outcome> {
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

process.exitCode = await main();
