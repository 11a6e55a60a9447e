import { setTimeout as sleep } from "node:timers/promises";
import { HermesError } from "../../nouns/errors.js";
import { answersOffered } from "./answer.js";
import type { ApprovalItem } from "./approval-item.js";
import type { Approver } from "./approver.js";
import { signBody, signToken } from "./token.js";

interface WebhookOptions {
  readonly url: string;
  readonly secret: string;
  /** Where answers are taken; sent with the question. */
  readonly answerUrl?: string;
  readonly problem?: (text: string) => void;
  /** Milliseconds before the second try; doubled each time. */
  readonly firstPause?: number;
}

const TRIES = 6;
const TRY_MS = 10_000;

/** Posts questions as signed JSON, with a token for every answer that can be given. Answers come back to `AnswerServer`. */
export class WebhookApprover implements Approver {
  readonly name = "webhook";
  readonly #options: WebhookOptions;
  readonly #open = new Map<string, AbortController>();

  constructor(options: WebhookOptions) {
    checkUrl(options.url);
    this.#options = options;
  }

  ask(item: ApprovalItem): void {
    const { secret, answerUrl } = this.#options;
    const { id, expires, notAlways } = item;
    const tokens = Object.fromEntries(
      answersOffered(notAlways).map((answer) => [answer, signToken(secret, { id, answer, expires })]),
    );
    const stop = new AbortController();
    this.#open.set(id, stop);
    const body = { type: "approval", item, tokens, ...(answerUrl !== undefined && { answerUrl }) };
    void this.#post(body, stop.signal, TRIES);
  }

  withdraw(id: string, why: string): void {
    this.#open.get(id)?.abort();
    this.#open.delete(id);
    void this.#post({ type: "withdrawn", id, why }, new AbortController().signal, 1);
  }

  async #post(
    message: { readonly type: string; readonly id?: string; readonly why?: string },
    stop: AbortSignal,
    tries: number,
  ): Promise<void> {
    const { url, secret, problem, firstPause = 500 } = this.#options;
    const body = JSON.stringify(message);
    for (let n = 0; n < tries && !stop.aborted; n++) {
      if (n > 0) await sleep(firstPause * 2 ** (n - 1), undefined, { signal: stop }).catch(() => undefined);
      if (stop.aborted) return;
      const trouble = await post(url, secret, body, stop);
      if (trouble === undefined || stop.aborted) return;
      if (n + 1 === tries || trouble.final) {
        if (message.type === "approval") problem?.(`webhook ${new URL(url).host}: ${trouble.text}`);
        return;
      }
    }
  }
}

async function post(
  url: string,
  secret: string,
  body: string,
  stop: AbortSignal,
): Promise<{ readonly text: string; readonly final: boolean } | undefined> {
  const seconds = Math.floor(Date.now() / 1000);
  try {
    const { ok, status } = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "hermes-signature": signBody(secret, seconds, body) },
      body,
      redirect: "error",
      signal: AbortSignal.any([stop, AbortSignal.timeout(TRY_MS)]),
    });
    if (ok) return undefined;
    const final = status >= 400 && status < 500 && status !== 408 && status !== 429;
    return { text: `it answers ${status}`, final };
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } };
    return { text: `it cannot be reached: ${cause?.code ?? message}`, final: false };
  }
}

/** Commands and tokens do not cross a network in the clear. */
function checkUrl(text: string): void {
  const { protocol, hostname } = new URL(text);
  const here = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  if (protocol !== "https:" && !(protocol === "http:" && here))
    throw new HermesError("USAGE", {
      message: `the webhook ${text} must be https: what is asked and the tokens that answer would be read on the way`,
    });
}
