import { parseAddress } from "../../nouns/address.js";
import { encodeText } from "../../nouns/text.js";
import type { CallRecord, Rendered } from "../../record/trace/records.js";

const MAX_NAMES = 20_000;
const DNS_PORT = 53;
const A = 1;
const AAAA = 28;
const NONE: readonly string[] = [];

/**
 * Names of hosts, as the program itself learned or said them: answers of name servers, the server name of a TLS hello,
 * the Host of an HTTP request. A trace holds the beginning of what was transferred, so that not all can be found.
 */
export class HostNames {
  readonly #byHost = new Map<string, Set<string>>();

  of(address: string): Iterable<string> {
    const parsed = parseAddress(address);
    return (parsed && "host" in parsed && this.#byHost.get(parsed.host)) || NONE;
  }

  /** Names of the peer that this transfer reveals. */
  learn(record: CallRecord, peer: string, sends: boolean): readonly string[] {
    const data = record.args.buf ?? record.args.msg ?? record.args.vec;
    const text = typeof data === "string" ? data : startOf(data);
    if (text === undefined || text.length < 12) return NONE;
    if (peer.endsWith(`:${DNS_PORT}`)) {
      if (!sends) this.#answers(encodeText(text));
      return NONE;
    }
    if (!sends) return NONE;
    const name = httpHost(text) ?? (text.charCodeAt(0) === 0x16 ? serverName(encodeText(text)) : undefined);
    return name === undefined ? NONE : [name];
  }

  #answers(message: Uint8Array): void {
    for (const { name, host } of dnsAnswers(message)) {
      const names = this.#byHost.get(host) ?? new Set();
      if (this.#byHost.size < MAX_NAMES) this.#byHost.set(host, names.add(name));
    }
  }
}

/** What a trace shows of data that it does not hold in full. */
function startOf(data: Rendered | undefined): string | undefined {
  return typeof data === "object" && data !== null && "start" in data ? data.start : undefined;
}

const HOST =
  /^(?:GET|POST|PUT|HEAD|PATCH|DELETE|OPTIONS) [^\r\n]*\r\n(?:[^\r\n]+\r\n)*?host: *([\w.-]+)(?::\d+)?\r\n/i;

function httpHost(text: string): string | undefined {
  const name = HOST.exec(text)?.[1]?.toLowerCase();
  return name !== undefined && /[a-z]/.test(name) ? name : undefined;
}

/** RFC 1035: the question's name, and the addresses among the answers. A truncated message gives fewer. */
export function dnsAnswers(message: Uint8Array): { readonly name: string; readonly host: string }[] {
  const view = new DataView(message.buffer, message.byteOffset, message.length);
  const found: { name: string; host: string }[] = [];
  try {
    if ((view.getUint16(2) & 0x800f) !== 0x8000 || view.getUint16(4) !== 1) return [];
    const question = dnsName(message, 12);
    let at = question.end + 4;
    for (let i = view.getUint16(6); i > 0; i--) {
      at = dnsName(message, at).end;
      const type = view.getUint16(at);
      const length = view.getUint16(at + 8);
      at += 10;
      if (at + length > message.length) break;
      if (type === A && length === 4)
        found.push({ name: question.name, host: message.subarray(at, at + 4).join(".") });
      if (type === AAAA && length === 16) found.push({ name: question.name, host: ipv6(view, at) });
      at += length;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // the message ends before it should
  }
  return found;
}

function ipv6(view: DataView, at: number): string {
  const groups = Array.from({ length: 8 }, (_, i) => view.getUint16(at + 2 * i).toString(16));
  return new URL(`http://[${groups.join(":")}]/`).hostname.slice(1, -1);
}

function dnsName(message: Uint8Array, from: number): { name: string; end: number } {
  const labels: string[] = [];
  let at = from;
  let end = 0;
  for (let jumps = 0; jumps < 16; ) {
    const length = message[at];
    if (length === undefined) throw new RangeError("cut off");
    if (length === 0) return { name: labels.join(".").toLowerCase(), end: end || at + 1 };
    if (length >= 0xc0) {
      end ||= at + 2;
      at = ((length & 0x3f) << 8) | (message[at + 1] ?? 0);
      jumps++;
    } else {
      labels.push(Buffer.from(message.subarray(at + 1, at + 1 + length)).toString("latin1"));
      at += 1 + length;
    }
  }
  throw new RangeError("pointers without end");
}

/** RFC 8446 4.1.2 and RFC 6066 3: the server name in a ClientHello. */
export function serverName(hello: Uint8Array): string | undefined {
  const view = new DataView(hello.buffer, hello.byteOffset, hello.length);
  try {
    if (view.getUint8(5) !== 1) return undefined;
    let at = 9 + 2 + 32;
    at += 1 + view.getUint8(at);
    at += 2 + view.getUint16(at);
    at += 1 + view.getUint8(at);
    const end = at + 2 + view.getUint16(at);
    for (at += 2; at < end; at += 4 + view.getUint16(at + 2)) {
      if (view.getUint16(at) !== 0) continue;
      const length = view.getUint16(at + 7);
      if (at + 9 + length > hello.length) return undefined;
      return Buffer.from(hello.subarray(at + 9, at + 9 + length)).toString("latin1");
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return undefined;
}
