import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { attributes, type OtlpSpan } from "../../offline/export/otlp.js";
import type { OtlpClient } from "../../offline/export/otlp-client.js";
import type { AuditBodies } from "../../record/audit/records.js";
import type { AuditRow } from "../../record/store/store.js";

/** Calls that have begun, and spans that wait for a collector: more are dropped. */
const OPEN = 10_000;
const WAITING = 5000;
const LONGEST = 500;
const PATIENCE_MS = 3000;
const INTERNAL = 1;
const ERROR = 2;

/** Tool calls as spans of OpenTelemetry: a session is a trace, a call a span from when it was judged until it ended. */
export class Telemetry {
  readonly #client: Pick<OtlpClient, "add" | "flush">;
  readonly #problem: (error: unknown) => void;
  readonly #open = new Map<string, AuditRow>();
  #waiting: OtlpSpan[] = [];
  #sending: Promise<void> | undefined;
  #lost = 0;

  constructor(client: Pick<OtlpClient, "add" | "flush">, problem: (error: unknown) => void) {
    this.#client = client;
    this.#problem = problem;
  }

  take(rows: readonly AuditRow[]): void {
    for (const row of rows) {
      try {
        this.#note(row);
      } catch {
        // Its body is not what it was when it was written: for the audit to tell.
        this.#lost++;
      }
    }
    if (this.#waiting.length > 0)
      this.#sending ??= this.#send().finally(() => {
        this.#sending = undefined;
      });
  }

  /** A collector that does not answer delays nothing. */
  async close(): Promise<void> {
    if (this.#sending) await Promise.race([this.#sending, sleep(PATIENCE_MS, undefined, { ref: false })]);
  }

  #note(row: AuditRow): void {
    if (row.kind !== "tool-call" && row.kind !== "outcome") return;
    const { id } = JSON.parse(row.body) as { readonly id: string };
    const began = this.#open.get(id);
    if (row.kind === "tool-call") this.#begin(id, row);
    else if (began) {
      this.#open.delete(id);
      if (this.#waiting.length < WAITING) this.#waiting.push(spanOf(began, row));
      else this.#lost++;
    }
  }

  #begin(id: string, row: AuditRow): void {
    this.#open.set(id, row);
    if (this.#open.size > OPEN) this.#open.delete(this.#open.keys().next().value!);
  }

  async #send(): Promise<void> {
    while (this.#waiting.length > 0) {
      const spans = this.#waiting;
      this.#waiting = [];
      try {
        await this.#client.add(spans);
        await this.#client.flush();
      } catch (error) {
        this.#lost += spans.length;
        this.#problem(new Error(`${(error as Error).message} (${this.#lost} spans are lost)`));
      }
    }
  }
}

function spanOf(began: AuditRow, ended: AuditRow): OtlpSpan {
  const { id, tool, action, input } = JSON.parse(began.body) as AuditBodies["tool-call"];
  const { status, exitCode, reason } = JSON.parse(ended.body) as AuditBodies["outcome"];
  const failed = status === "FAILED" || status === "REFUSED";
  return {
    traceId: digest(`session ${began.session}`).slice(0, 32),
    spanId: digest(`call ${id}`).slice(0, 16),
    name: `tool ${tool}`.slice(0, LONGEST),
    kind: INTERNAL,
    startTimeUnixNano: `${began.time}000000`,
    endTimeUnixNano: `${Math.max(ended.time, began.time)}000000`,
    attributes: attributes({
      "hermes.session": began.session ?? undefined,
      "hermes.call": id,
      "hermes.tool": tool,
      "hermes.input": input.slice(0, LONGEST),
      "hermes.action": action,
      "hermes.status": status,
      "process.exit.code": exitCode,
    }),
    ...(failed && {
      status: { code: ERROR, ...(reason !== undefined && { message: reason.slice(0, LONGEST) }) },
    }),
  };
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
