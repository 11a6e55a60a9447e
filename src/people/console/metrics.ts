import { PACKAGE_VERSION } from "../../nouns/version.js";
import { AUDIT_KINDS } from "../../record/audit/records.js";
import { type AuditRow, type Store, TOOL_CALL_STATUSES } from "../../record/store/store.js";

import { RunMetrics } from "./run-metrics.js";
import type { RunView } from "./runs.js";

/** What is counted of a record besides its kind: the field of its body, and the words that it can be. */
const COUNTED: Readonly<Record<string, readonly [metric: string, field: string, words: readonly string[]]>> =
  {
    "tool-call": ["hermes_tool_calls_total", "action", ["allow", "ask", "deny"]],
    "approval-answered": [
      "hermes_approvals_answered_total",
      "state",
      ["granted", "refused", "expired", "withdrawn"],
    ],
    deed: ["hermes_deeds_total", "action", ["allow", "ask", "deny", "kill"]],
    outcome: ["hermes_outcomes_total", "status", TOOL_CALL_STATUSES],
  };

const HELP: Readonly<Record<string, string>> = {
  hermes_records_total: "Records of the audit that were written since the console was started.",
  hermes_tool_calls_total: "Tool calls of agents, by what the guard said.",
  hermes_approvals_answered_total: "Questions to people that were settled, by how.",
  hermes_deeds_total: "System calls that a policy decided on and that were recorded, by what it said.",
  hermes_outcomes_total: "Tool calls that ended, by how.",
  hermes_console_requests_total: "Requests that the console answered, by status.",
};

/** Numbers, for Prometheus: names and words are ours alone, so that nothing an agent writes becomes a label. */
export class Metrics {
  readonly #counts = new Map<string, Map<string, number>>();
  readonly #ofRuns = new RunMetrics();

  count(row: Pick<AuditRow, "kind" | "body">): void {
    const { kind, body } = row;
    this.#add(
      "hermes_records_total",
      "kind",
      (AUDIT_KINDS as readonly string[]).includes(kind) ? kind : "other",
    );
    const counted = Object.hasOwn(COUNTED, kind) ? COUNTED[kind] : undefined;
    if (!counted) return;
    const [metric, field, words] = counted;
    this.#add(metric, field, words.find((word) => word === fieldOf(body, field)) ?? "other");
  }

  answered(status: number): void {
    this.#add("hermes_console_requests_total", "status", String(status));
  }

  #add(metric: string, label: string, value: string): void {
    const key = `{${label}="${value}"}`;
    const of = this.#counts.get(metric) ?? new Map<string, number>();
    of.set(key, (of.get(key) ?? 0) + 1);
    this.#counts.set(metric, of);
  }

  /** Prometheus's text format, version 0.0.4. */
  async text(
    store: Store,
    now: { readonly pending: number; readonly pages: number; readonly runs: readonly RunView[] },
  ): Promise<string> {
    const runs = this.#ofRuns.numbers(now.runs);
    const open = await store.toolCalls({ status: ["PENDING", "BLOCKED", "RUNNING"] });
    const gauges: readonly (readonly [
      name: string,
      help: string,
      values: Readonly<Record<string, number>>,
    ])[] = [
      ["hermes_info", "The version that runs.", { [`{version="${PACKAGE_VERSION}"}`]: 1 }],
      ["hermes_approvals_pending", "Questions that wait for a person.", { "": now.pending }],
      ["hermes_sessions_open", "Agents at work.", { "": (await store.sessions({ open: true })).length }],
      [
        "hermes_tool_calls_open",
        "Tool calls that have not ended.",
        Object.fromEntries(
          ["PENDING", "BLOCKED", "RUNNING"].map((status) => [
            `{status="${status}"}`,
            open.filter((call) => call.status === status).length,
          ]),
        ),
      ],
      ["hermes_runs", "Supervised runs on this machine (hermes run, trace, attach).", runs.running],
      ["hermes_console_pages", "Pages that are open.", { "": now.pages }],
      ["process_resident_memory_bytes", "Memory of the console.", { "": process.memoryUsage.rss() }],
    ];
    const counters = Object.entries(HELP).map(([name, help]) => {
      return [name, help, Object.fromEntries(this.#counts.get(name) ?? [])] as const;
    });
    const ofRuns = [
      [
        "hermes_run_refusals_total",
        "What runs were refused, recorded since the console was started.",
        runs.refusals,
      ],
      ["hermes_runs_refused_total", "Runs that were refused something.", runs.runs],
    ] as const;
    return [...gauges.map(written("gauge")), ...[...counters, ...ofRuns].map(written("counter"))].join("");
  }
}

function written(type: "gauge" | "counter") {
  return ([name, help, values]: readonly [string, string, Readonly<Record<string, number>>]): string =>
    [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
      ...Object.entries(values).map(([labels, value]) => `${name}${labels} ${value}`),
      "",
    ].join("\n");
}

function fieldOf(body: string, name: string): unknown {
  try {
    return (JSON.parse(body) as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}
