import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { redact } from "../../intent/guard/credentials/secrets.js";
import type { RuntimeCheckOptions } from "../../intent/runtime-check/options.js";
import { HOME } from "../../nouns/home.js";
import type { Audit } from "../../record/audit/audit.js";
import type { Store, ToolCallStatus } from "../../record/store/store.js";
import type { Refusal, RunResult } from "./backend.js";
import type { ToolIntent } from "./tool.js";

/** Records the calls of one session: rows that change, and audit records that do not. Secrets are redacted. */
export class Ledger {
  readonly session: string;
  readonly #store: Store;
  readonly #known = new Set<string>();
  readonly #audit: Audit;

  constructor(store: Store, audit: Audit, session: string) {
    this.#store = store;
    this.#audit = audit;
    this.session = session;
  }

  /** The call's record is durable before this returns. */
  async begin(
    id: string,
    tool: string,
    input: unknown,
    intent: ToolIntent,
    status: ToolCallStatus,
  ): Promise<void> {
    const { session } = this;
    const { what, subject, action, findings, digest } = intent;
    const row = { id, session, tool, input: withoutSecrets(input), digest, created: Date.now(), status };
    const body = {
      id,
      tool,
      input: subject?.input ?? what,
      ...(subject && { kind: subject.kind }),
      ...(subject?.fields && { fields: subject.fields }),
      action,
      findings,
    };
    await Promise.all([this.#store.addToolCall(row), this.#audit.record("tool-call", body, { session })]);
  }

  /** The call is approved and now runs, or runs on. */
  async running(id: string): Promise<void> {
    await this.#store.changeToolCall(id, ["PENDING", "BLOCKED"], { status: "RUNNING", started: Date.now() });
  }

  async end(
    id: string,
    status: ToolCallStatus,
    output: object | undefined,
    reason: string | undefined,
  ): Promise<void> {
    const { session } = this;
    const change = { status, ended: Date.now(), output: withoutSecrets(output ?? { reason }) };
    const body = { id, status, ...(reason !== undefined && { reason }), ...numbersOf(output ?? {}) };
    await Promise.all([
      this.#store.changeToolCall(id, ["PENDING", "BLOCKED", "RUNNING", "REFUSED"], change),
      this.#audit.record("outcome", body, { session }),
    ]);
  }

  /** A policy is stored with its text at first use: records name it by version. */
  async decided(policies: RunResult["policies"], check: RuntimeCheckOptions): Promise<void> {
    for (const { name, version } of policies) {
      if (this.#known.has(version)) continue;
      this.#known.add(version);
      if (await this.#store.policy(version)) continue;
      const { workspace, home, network, config } = check;
      const text = name === "deed" ? JSON.stringify({ workspace, home, network, config }) : shippedText(name);
      await this.#store.rememberPolicy({ name, version, text, time: Date.now() });
      await this.#audit.record("policy", { name, version }, { session: this.session });
    }
  }

  /** What the supervisor refused while a call ran. */
  async refused(toolCall: string, refusals: readonly Refusal[]): Promise<void> {
    const { session } = this;
    await Promise.all(
      refusals.map(({ call: name, about, ...deed }) => {
        const body = { toolCall, call: { name, ...about }, action: "deny" as const, ...deed };
        return this.#audit.record("deed", body, { session });
      }),
    );
  }
}

/** The rules of a bundled policy, with those of the policies that it extends. */
function shippedText(name: string): string {
  const files = name === "tools" ? ["tools", "secrets", "workspace"] : [name];
  return files
    .map((file) => join(HOME, "policies", `${file}.yaml`))
    .flatMap((file) => (existsSync(file) ? [readFileSync(file, "utf8")] : []))
    .join("---\n");
}

const NUMBERS = ["exitCode", "signal", "timedOut", "truncated", "durationMs"] as const;

function numbersOf(output: object): Partial<Record<(typeof NUMBERS)[number], never>> {
  return Object.fromEntries(
    Object.entries(output).filter(([key]) => (NUMBERS as readonly string[]).includes(key)),
  );
}

function withoutSecrets(value: unknown): string {
  return JSON.stringify(value ?? null, (_, inner) =>
    typeof inner === "string" ? redact(inner).text : inner,
  );
}
