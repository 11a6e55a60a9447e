import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { HermesError } from "../../nouns/errors.js";
import { portableJson } from "./exporter.js";
import { type OtlpSpan, tracesData } from "./otlp.js";

const BATCH = 512;
const TRIES = 5;
/** OTLP names these as worth another try. */
const AGAIN = new Set([429, 502, 503, 504]);
const TIMEOUT_MS = 30_000;

/** Sends spans to a collector: OTLP over HTTP, JSON, in batches, one after the other. */
export class OtlpClient {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  #waiting: OtlpSpan[] = [];
  #sent = 0;
  #rejected = 0;

  /** `endpoint` is the collector's base, as in OTEL_EXPORTER_OTLP_ENDPOINT, or the full address of its traces. */
  constructor(endpoint: string, headers: Readonly<Record<string, string>> = {}) {
    this.#url = tracesUrl(endpoint);
    this.#headers = headers;
  }

  get sent(): number {
    return this.#sent;
  }
  /** Spans that the collector took, but did not want. */
  get rejected(): number {
    return this.#rejected;
  }

  async add(spans: readonly OtlpSpan[]): Promise<void> {
    for (const span of spans) {
      this.#waiting.push(span);
      if (this.#waiting.length >= BATCH) await this.flush();
    }
  }

  async flush(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const spans = this.#waiting;
    this.#waiting = [];
    await this.#post(gzipSync(portableJson(tracesData(spans)), { level: 1 }));
    this.#sent += spans.length;
  }

  async #post(body: Buffer): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#try(body);
      if (answer instanceof Response && answer.ok) return this.#accepted(answer);
      const problem =
        answer instanceof Response
          ? `status ${answer.status}: ${(await answer.text()).slice(0, 200)}`
          : answer;
      const again = !(answer instanceof Response) || AGAIN.has(answer.status);
      if (!again || attempt === TRIES)
        throw new HermesError("COLLECTOR", { url: this.#url, message: problem });
      await sleep(pause(answer, attempt));
    }
  }

  /** The answer, or why there is none. */
  async #try(body: Buffer): Promise<Response | string> {
    try {
      return await fetch(this.#url, {
        method: "POST",
        headers: { ...this.#headers, "content-type": "application/json", "content-encoding": "gzip" },
        body: new Uint8Array(body),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch (error) {
      const { cause } = error as { cause?: NodeJS.ErrnoException };
      return cause?.code ?? cause?.message ?? (error as Error).message;
    }
  }

  async #accepted(answer: Response): Promise<void> {
    const text = await answer.text();
    try {
      const { partialSuccess } = JSON.parse(text || "{}") as {
        partialSuccess?: { rejectedSpans?: string | number };
      };
      this.#rejected += Number(partialSuccess?.rejectedSpans ?? 0);
    } catch {
      // Some collectors answer JSON with an empty protobuf message.
    }
  }
}

function tracesUrl(endpoint: string): string {
  try {
    const url = new URL(endpoint);
    if (!/^https?:$/.test(url.protocol)) throw new Error();
    if (!url.pathname.endsWith("/v1/traces")) url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/traces`;
    return url.href;
  } catch {
    throw new HermesError("USAGE", {
      message: `--endpoint takes an http or https address, not "${endpoint}"`,
    });
  }
}

/** As the collector says, else twice as long each time. */
function pause(answer: Response | string, attempt: number): number {
  const after = answer instanceof Response ? Number(answer.headers.get("retry-after")) : 0;
  return after > 0 ? Math.min(after * 1000, TIMEOUT_MS) : 200 * 2 ** attempt;
}
