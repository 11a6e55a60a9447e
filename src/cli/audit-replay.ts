import { homedir } from "node:os";
import { resolve } from "node:path";
import { CUT, REDACTED } from "../audit/canonical.js";
import type { DeedBody, ToolCallBody } from "../audit/records.js";
import { deedPolicies } from "../deed/policy.js";
import type { HermesError } from "../errors.js";
import { loadConfig } from "../guard/config/load.js";
import type { Guard } from "../guard/guard.js";
import { configuredGuard } from "../guard/host.js";
import { loadPolicies } from "../policy/load.js";
import type { Policy } from "../policy/policy.js";
import { PolicyStack } from "../policy/stack.js";
import { type CallRecord, RecordedCall } from "../simulate/recorded-call.js";
import type { AuditRow, Store } from "../store/store.js";
import { harmless } from "../text.js";
import { type ChoiceFlags, chosen, parsedBody, withStore } from "./audit.js";
import { paint, print, say } from "./output.js";

interface Flags extends ChoiceFlags {
  readonly policy?: readonly string[];
  readonly cwd?: string;
  readonly json?: boolean;
}

interface Change extends Pick<AuditRow, "chain" | "seq" | "time" | "kind">, Again {}

interface Again {
  readonly what: string;
  readonly before: string;
  readonly now: string;
  readonly why: string;
}

/** The exit status when something would be decided otherwise. */
const DIFFERS = 3;
const SHOWN = 100;

/** What today's guard and policies say of what was recorded. Nothing is done, and the network is not asked. */
export async function replayCommand(flags: Flags): Promise<number> {
  const policies = await loadPolicies([...(flags.policy ?? [])]);
  return withStore(flags, async (store) => {
    const judges = new Judges(store, policies, flags.cwd);
    const changes: Change[] = [];
    let judged = 0;
    let unknown = 0;
    for await (const row of store.audit({ ...chosen(flags), kind: ["tool-call", "deed"] })) {
      const { guard, stack } = await judges.of(row);
      const again = row.kind === "tool-call" ? judgeAgain(row, guard) : decideAgain(row, stack);
      if (!again) unknown++;
      else judged++;
      const { chain, seq, time, kind } = row;
      if (again && again.before !== again.now) changes.push({ chain, seq, time, kind, ...again });
    }
    if (flags.json) print(`${JSON.stringify({ judged, notComparable: unknown, changes })}\n`);
    else print(report(changes, judged, unknown));
    for (const problem of judges.problems) say(`hermes: ${harmless(problem)}\n`);
    return changes.length > 0 ? DIFFERS : 0;
  });
}

/** Undefined when it cannot be known: a secret was taken out of what was judged, or it is not there as a whole. */
function judgeAgain(row: AuditRow, guard: Guard): Again | undefined {
  const { kind, input, fields, action } = parsedBody(row) as ToolCallBody;
  if (kind === undefined || typeof input !== "string" || isPartial(row)) return undefined;
  const now = guard.check({ kind, input, ...(fields && { fields }) });
  const why = now.findings.filter((finding) => finding.action === now.action);
  return {
    what: `${kind} ${input}`,
    before: action,
    now: now.action,
    why: why.map(({ rule, reason }) => `${rule}: ${reason}`).join(" "),
  };
}

/** Undefined also when only the name of the call is known: no policy could say what it was. */
function decideAgain(row: AuditRow, stack: PolicyStack): Again | undefined {
  const { call, what, action, policy, rule } = parsedBody(row) as DeedBody;
  if (call === undefined || Object.keys(call).length < 2 || isPartial(row)) return undefined;
  let event: RecordedCall;
  try {
    event = new RecordedCall(call as CallRecord);
  } catch {
    return undefined;
  }
  const now = stack.decide(event);
  // Whoever was asked said no: the same question would be asked today.
  const refused = now.action === "ask" && action === "deny" && now.policy === policy && now.rule === rule;
  const who = [now.policy, now.rule].filter(Boolean).join("/");
  return {
    what,
    before: action,
    now: refused ? action : now.action,
    why: [who, now.reason].filter(Boolean).join(": "),
  };
}

function isPartial({ body }: AuditRow): boolean {
  return body.includes(REDACTED) || body.includes(CUT);
}

interface Judge {
  readonly guard: Guard;
  /** What every tool's run is held to, and the policies that were given. */
  readonly stack: PolicyStack;
}

/** One for each workspace that a session worked in, with what hermes.yaml there says today. */
class Judges {
  readonly problems = new Set<string>();
  readonly #store: Store;
  readonly #policies: readonly Policy[];
  readonly #fixed: string | undefined;
  readonly #workspaces = new Map<string | null, string>();
  readonly #judges = new Map<string, Promise<Judge>>();

  constructor(store: Store, policies: readonly Policy[], fixed: string | undefined) {
    this.#store = store;
    this.#policies = policies;
    this.#fixed = fixed;
  }

  async of({ session }: AuditRow): Promise<Judge> {
    const workspace = resolve(this.#fixed ?? (await this.#workspace(session)));
    const known = this.#judges.get(workspace) ?? this.#make(workspace);
    this.#judges.set(workspace, known);
    return known;
  }

  async #make(workspace: string): Promise<Judge> {
    const home = homedir();
    const config = loadConfig({ workspace, home, env: process.env });
    const own = await deedPolicies({
      workspace,
      home,
      writable: [],
      approved: [],
      network: "public",
      config,
    });
    const onError = ({ message }: HermesError) => this.problems.add(message);
    const stack = new PolicyStack([...own, ...this.#policies], onError, []);
    return { guard: await configuredGuard({ workspace }), stack };
  }

  async #workspace(session: string | null): Promise<string> {
    const known = this.#workspaces.get(session);
    if (known !== undefined) return known;
    const found = (session !== null && (await this.#store.session(session))?.workspace) || ".";
    this.#workspaces.set(session, found);
    return found;
  }
}

function report(changes: readonly Change[], judged: number, unknown: number): string {
  const p = paint(1);
  const lines = changes.slice(0, SHOWN).map(({ seq, what, before, now, why }) => {
    const short = harmless(what).slice(0, 160);
    return `  ${p("cyan", `${seq}`)} ${before} → ${p("bold", now)}  ${short}  ${p("dim", harmless(why))}`;
  });
  if (changes.length > SHOWN) lines.push(`  … and ${changes.length - SHOWN} more (--json has all)`);
  const rest = unknown > 0 ? `, ${unknown} that cannot be judged again` : "";
  lines.push(`${judged} judged again${rest}; ${changes.length} would be decided otherwise`);
  return `${lines.join("\n")}\n`;
}
