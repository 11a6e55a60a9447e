import { homedir } from "node:os";
import { resolve } from "node:path";
import { loadConfig } from "../../intent/guard/config/load.js";
import type { Guard } from "../../intent/guard/guard.js";
import { configuredGuard } from "../../intent/guard/host.js";
import { runtimeCheckPolicies } from "../../intent/runtime-check/policy.js";
import type { HermesError } from "../../nouns/errors.js";
import { escapeControl } from "../../nouns/text.js";
import { type PartialCallRecord, RecordedCall } from "../../offline/simulate/recorded-call.js";
import { loadPolicies } from "../../policy/load.js";
import type { Policy } from "../../policy/policy.js";
import { PolicyStack } from "../../policy/stack.js";
import { CUT, REDACTED } from "../../record/audit/canonical.js";
import type { RuntimeCheckBody, ToolCallBody } from "../../record/audit/records.js";
import type { AuditRow, Store } from "../../record/store/store.js";
import { paint, print, say } from "../views/output.js";
import { type ChoiceFlags, chosen, parsedBody, withStore } from "./audit.js";

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

/** The exit status when a decision would differ. */
const DIFFERS = 3;
const SHOWN = 100;

/** Judges the recorded calls with today's guard and policies. It runs nothing and does not use the network. */
export async function auditReplayCommand(flags: Flags): Promise<number> {
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
    for (const problem of judges.problems) say(`hermes: ${escapeControl(problem)}\n`);
    return changes.length > 0 ? DIFFERS : 0;
  });
}

/** Undefined when the input cannot be judged again: a secret was redacted from it, or it was truncated. */
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

/** Undefined also when only the call's name is known: a policy cannot decide on that. */
function decideAgain(row: AuditRow, stack: PolicyStack): Again | undefined {
  const { call, what, action, policy, rule } = parsedBody(row) as RuntimeCheckBody;
  if (call === undefined || Object.keys(call).length < 2 || isPartial(row)) return undefined;
  let event: RecordedCall;
  try {
    event = new RecordedCall(call as PartialCallRecord);
  } catch {
    return undefined;
  }
  const now = stack.decide(event);
  // An approver refused it: the same question would be asked today.
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
  /** The policy of every tool's run, and the given policies. */
  readonly stack: PolicyStack;
}

/** One guard per workspace of the sessions, with today's hermes.yaml there. */
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
    const own = await runtimeCheckPolicies({
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
    const short = escapeControl(what).slice(0, 160);
    return `  ${p("cyan", `${seq}`)} ${before} → ${p("bold", now)}  ${short}  ${p("dim", escapeControl(why))}`;
  });
  if (changes.length > SHOWN) lines.push(`  … and ${changes.length - SHOWN} more (--json has all)`);
  const rest = unknown > 0 ? `, ${unknown} cannot be judged again` : "";
  lines.push(`${judged} judged again${rest}; ${changes.length} would be decided differently`);
  return `${lines.join("\n")}\n`;
}
