import { Prototypes } from "../../binary/prototypes/index.js";
import { HermesError } from "../../nouns/errors.js";
import { counted } from "../../nouns/text.js";
import type { Decision } from "../../nouns/verdict.js";
import { readEvents } from "../../offline/simulate/read.js";
import { type SimulatedOutcome, Simulator } from "../../offline/simulate/simulate.js";
import { loadPolicies } from "../../policy/load.js";
import { paint, print, say } from "../views/output.js";

interface Flags {
  policy?: string[];
  against?: string[];
  prototypes?: string[];
  json?: boolean;
}

const SHOWN = 50;

/**
 * Shows what policies would decide on recorded events. Exits 1 when an event is refused (or a decision changes), else 0.
 */
export async function simulateCommand(files: string[], flags: Flags): Promise<number> {
  if (!flags.policy?.length) throw new HermesError("USAGE", { message: "simulate needs --policy FILE" });
  const policies = await loadPolicies(flags.policy);
  const against = flags.against && (await loadPolicies(flags.against));
  const simulator = new Simulator(policies, against);
  const prototypes = new Prototypes(flags.prototypes);
  for (const file of files)
    await readEvents(file, (occurrence) => simulator.take(occurrence), { prototypes });
  const result = simulator.result();
  if (flags.json) print(`${JSON.stringify(result)}\n`);
  else print(render(result.outcomes, result.events, against !== undefined));
  for (const problem of result.problems) say(`hermes: ${problem}\n`);
  return result.outcomes.length > 0 ? 1 : 0;
}

function render(outcomes: readonly SimulatedOutcome[], events: number, compared: boolean): string {
  const p = paint(1);
  const colour = (action: string) =>
    action === "allow" ? "green" : action === "deny" || action === "kill" ? "red" : "yellow";
  const word = ({ action, errno }: Decision) =>
    p(colour(action), errno === undefined || action !== "deny" ? action : `${action} ${errno}`);
  const lines = outcomes.slice(0, SHOWN).map(({ event, decision, before, count }) => {
    const who = [decision.policy || before?.policy, decision.rule ?? before?.rule].filter(Boolean).join("/");
    const change = before ? `${word(before)} → ${word(decision)}` : word(decision);
    return `  ${change}  ${event}${count > 1 ? `  ×${count}` : ""}  ${p("dim", `${who}${decision.reason ? `: ${decision.reason}` : ""}`)}`;
  });
  if (outcomes.length > SHOWN) lines.push(`  … and ${outcomes.length - SHOWN} more (--json has all)`);
  const what = compared ? "decided differently" : "with a verdict other than allow";
  lines.push(
    `${counted(events, "event")}, ${outcomes.reduce((sum, o) => sum + o.count, 0).toLocaleString("en")} ${what}`,
  );
  return `${lines.join("\n")}\n`;
}
