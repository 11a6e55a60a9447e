import { type IncomingHttpHeaders, type IncomingMessage, request as plain } from "node:http";
import { request as secure } from "node:https";
import type { LookupFunction } from "node:net";
import { isIPv6 } from "node:net";
import { HermesError } from "../../../nouns/errors.js";
import type { Finding } from "../finding.js";
import type { Allowed } from "./allowed.js";
import { judgeUrl } from "./layer.js";
import { type Resolve, reachUrl } from "./reach-url.js";

export interface FetchOptions {
  readonly resolve: Resolve;
  /** Allowed targets in the own network. Default: none. */
  readonly allowed?: Allowed;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly redirects?: number;
  readonly bytes?: number;
  readonly timeout?: number;
  /** Called when the layer would ask a person; without it, a question is a refusal. */
  readonly approve?: (url: string, findings: readonly Finding[]) => Promise<boolean>;
  /** Further findings on a URL, those of redirects included. */
  readonly judge?: (url: string) => readonly Finding[];
  /** Whether to read a response with these headers; if not, its body is empty. */
  readonly wants?: (headers: IncomingHttpHeaders) => boolean;
  readonly signal?: AbortSignal;
}

export interface Fetched {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The body was longer than `bytes`. */
  readonly truncated: boolean;
  /** Every request, with the address that it went to. The response comes from the last one. */
  readonly hops: readonly { readonly url: string; readonly address: string }[];
}

/** Headers for the first host only, not for hosts that it redirects to. */
const OF_ONE_HOST = /^(?:authorization|cookie|proxy-authorization|x-api-key|x-auth-token)$/i;

/**
 * An HTTP request that reaches only what was judged: it resolves the name once, connects to one of these addresses,
 * and judges every redirect as a new request.
 */
export async function fetchChecked(url: string, options: FetchOptions): Promise<Fetched> {
  const hops: { url: string; address: string }[] = [];
  let target = url;
  let { method = "GET", headers = {}, body } = options;
  for (;;) {
    const address = await judged(target, options);
    hops.push({ url: target, address });
    const response = await send(new URL(target), address, {
      ...options,
      method,
      headers,
      ...(body !== undefined && { body }),
    });
    const location = redirect(response.message);
    if (location === undefined)
      return {
        status: response.message.statusCode ?? 0,
        headers: response.message.headers,
        body: response.body,
        truncated: response.truncated,
        hops,
      };
    if (hops.length > (options.redirects ?? 5)) throw refusal(target, "too many redirects");
    const next = resolved(location, target);
    if (new URL(next).origin !== new URL(target).origin)
      headers = Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_ONE_HOST.test(name)));
    if (response.message.statusCode! <= 303 && method !== "HEAD") {
      method = "GET";
      body = undefined;
    }
    target = next;
  }
}

function redirect({ statusCode = 0, headers }: IncomingMessage): string | undefined {
  return [301, 302, 303, 307, 308].includes(statusCode) ? headers.location : undefined;
}

function refusal(url: string, reason: string): HermesError {
  return new HermesError("URL_REFUSED", { url, reason });
}

/** Judges the text of a redirect as the server sent it, before any normalization. */
function resolved(location: string, base: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(location)) return location;
  if (/^[/\\]{2}/.test(location)) return `${new URL(base).protocol}${location}`;
  return new URL(location, base).href;
}

/** The address to connect to, or a refusal. */
async function judged(url: string, options: FetchOptions): Promise<string> {
  const allowed = options.allowed ?? (() => false);
  const known = [...judgeUrl(url, allowed), ...(options.judge?.(url) ?? [])];
  const denied = known.find(({ action }) => action === "deny");
  if (denied) throw refusal(url, denied.reason);
  if (!/^https?:$/.test(new URL(url).protocol)) throw refusal(url, "only http and https are fetched");
  const asked = known.filter(({ action }) => action === "ask");
  if (asked.length > 0 && !(await options.approve?.(url, asked))) throw refusal(url, asked[0]!.reason);
  const { addresses, findings } = await reachUrl(url, options.resolve, allowed);
  if (findings.length > 0) throw refusal(url, findings[0]!.reason);
  return addresses[0]!;
}

/** A lookup that returns this address only. */
function pinned(address: string): LookupFunction {
  const family = isIPv6(address) ? 6 : 4;
  return (_host, { all }, answer) => {
    if (all) answer(null, [{ address, family }]);
    else answer(null, address, family);
  };
}

interface Answer {
  readonly message: IncomingMessage;
  readonly body: Buffer;
  readonly truncated: boolean;
}

function send(url: URL, address: string, options: FetchOptions): Promise<Answer> {
  const limit = options.bytes ?? 10 << 20;
  const late = AbortSignal.timeout(options.timeout ?? 30_000);
  const signal = options.signal ? AbortSignal.any([late, options.signal]) : late;
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(new HermesError("FETCH", { url: url.href, message: error.message }, { cause: error }));
    const start = url.protocol === "https:" ? secure : plain;
    const { method = "GET", headers = {} } = options;
    // No agent: a pooled connection could come from another judgement.
    const sent = start(url, { method, headers, agent: false, lookup: pinned(address), signal }, (message) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const finish = (truncated: boolean) =>
        resolve({ message, body: Buffer.concat(chunks).subarray(0, limit), truncated });
      if (redirect(message) !== undefined || options.wants?.(message.headers) === false) {
        message.destroy();
        finish(false);
        return;
      }
      message.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size <= limit) return;
        message.destroy();
        finish(true);
      });
      message.on("end", () => finish(false));
      message.on("error", fail);
    });
    sent.on("error", fail);
    sent.end(options.body);
  });
}
