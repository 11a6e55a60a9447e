import { CUT, REDACTED } from "../audit/canonical.js";
import type { DeedBody, ToolCallBody } from "../audit/records.js";
import type { HermesError } from "../errors.js";
import type { Guard } from "../guard/guard.js";
import { configuredGuard } from "../guard/host.js";
import { loadPolicies } from "../policy/load.js";
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

interface Change {
  readonly chain: string;
  readonly seq: number;
  readonly time: number;
  readonly kind: string;
  readonly what: string;
  readonly before: string;
  readonly now: string;
  readonly why: string;
}

/** Differs from when it was decided. */
const DIFFERS = 3;
const SHOWN = 100;

/** What today's guard and policies say of what was recorded. Nothing is done, and the network is not asked. */
export async function replayCommand(flags: Flags): Promise<number> {
  const problems = new Set<string>();
  const policies = await loadPolicies([...(flags.policy ?? [])]);
  const stack = new PolicyStack(policies, ({ message }: HermesError) => problems.add(message), []);
  return withStore(flags, async (store) => {
    const guards = new Guards(store, flags.cwd);
    const changes: Change[] = [];
    const count = { judged: 0, unknown: 0 };
    for await (const row of store.audit({ ...chosen(flags), kind: ["tool-call", "deed"] })) {
      const again =
        row.kind === "tool-call" ? judgeAgain(row, await guards.of(row)) : decideAgain(row, stack, flags);
      if (!again) count.unknown++;
      else count.judged++;
      if (again && again.before !== again.now) changes.push({ ...placeOf(row), ...again });
    }
    if (flags.json)
      print(`${JSON.stringify({ judged: count.judged, notComparable: count.unknown, changes })}\n`);
    else print(report(changes, count));
    for (const problem of problems) say(`hermes: ${harmless(problem)}\n`);
    return changes.length > 0 ? DIFFERS : 0;
  });
}

type Again = Pick<Change, "what" | "before" | "now" | "why">;

/** Undefined when it cannot be known: a secret was taken out of what was judged, or it is not there as a whole. */
function judgeAgain(row: AuditRow, guard: Guard): Again | undefined {
  const { kind, input, fields, action } = parsedBody(row) as ToolCallBody;
  if (kind === undefined || typeof input !== "string" || isPartial(row.body)) return undefined;
  const now = guard.check({ kind, input, ...(fields && { fields }) });
  const why = now.findings.filter((finding) => finding.action === now.action);
  return {
    what: `${kind} ${input}`,
    before: action,
    now: now.action,
    why: why.map(({ rule, reason }) => `${rule}: ${reason}`).join(" "),
  };
}

function decideAgain(row: AuditRow, stack: PolicyStack, { policy = [] }: Flags): Again | undefined {
  const { call, what, action } = parsedBody(row) as DeedBody;
  if (policy.length === 0 || call === undefined || isPartial(row.body)) return undefined;
  let event: RecordedCall;
  try {
    event = new RecordedCall(call as CallRecord);
  } catch {
    return undefined;
  }
  const now = stack.decide(event);
  const who = [now.policy, now.rule].filter(Boolean).join("/");
  return { what, before: action, now: now.action, why: [who, now.reason].filter(Boolean).join(": ") };
}

const isPartial = (body: string) => body.includes(REDACTED) || body.includes(CUT);
const placeOf = ({ chain, seq, time, kind }: AuditRow) => ({ chain, seq, time, kind });

/** A guard for each workspace that a session worked in, with what hermes.yaml there says today. */
class Guards {
  readonly #store: Store;
  readonly #fixed: string | undefined;
  readonly #workspaces = new Map<string | null, string>();
  readonly #guards = new Map<string, Promise<Guard>>();

  constructor(store: Store, fixed: string | undefined) {
    this.#store = store;
    this.#fixed = fixed;
  }

  async of({ session }: AuditRow): Promise<Guard> {
    const workspace = this.#fixed ?? (await this.#workspace(session));
    const known = this.#guards.get(workspace) ?? configuredGuard({ workspace });
    this.#guards.set(workspace, known);
    return known;
  }

  async #workspace(session: string | null): Promise<string> {
    const known = this.#workspaces.get(session);
    if (known !== undefined) return known;
    const found = session === null ? undefined : (await this.#store.session(session))?.workspace;
    this.#workspaces.set(session, found ?? ".");
    return found ?? ".";
  }
}

function report(
  changes: readonly Change[],
  { judged, unknown }: { judged: number; unknown: number },
): string {
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
