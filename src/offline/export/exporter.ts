import { syscallByName } from "../../abi/index.js";
import { parseAddress } from "../../nouns/address.js";
import { counted } from "../../nouns/counted.js";
import { argumentsText, functionResult } from "../../record/trace/function-text.js";
import type { CallRecord, FunctionRecord, TraceRecord } from "../../record/trace/records.js";
import { RecordActors } from "../analyze/actors.js";
import type { TracedProcess } from "../analyze/processes.js";

/** Which calls an export holds: all, or those on which a policy had something to say. */
export const CALL_SELECTIONS = ["all", "decided"] as const;
export type CallSelection = (typeof CALL_SELECTIONS)[number];

/** Turns the records of a trace, given in order, into text of another kind. */
export interface Exporter {
  /** What a record adds; may be nothing. */
  add(record: TraceRecord): string;
  /** What comes last. */
  end(): string;
}

/** Whose deed a record is, for exporters that say so. */
export abstract class ActorExporter implements Exporter {
  readonly #actors = new RecordActors();
  readonly #calls: CallSelection;

  constructor(calls: CallSelection) {
    this.#calls = calls;
  }

  add(record: TraceRecord): string {
    const actor = this.#actors.of(record);
    if (this.#calls === "decided" && isUndecided(record)) return "";
    return this.write(record, actor);
  }

  protected abstract write(record: TraceRecord, actor: TracedProcess | undefined): string;

  end(): string {
    return "";
  }
}

/** A call on which no policy had anything to say. */
export function isUndecided(record: TraceRecord): boolean {
  return (record.kind === "syscall" || record.kind === "function") && record.policy === undefined;
}

/** Names that are not UTF-8 hold lone surrogates, which JSON can say but many of its readers refuse. */
export function portableJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g, "$1\ufffd");
}

interface NetworkPeer {
  readonly text: string;
  readonly host?: string;
  readonly port?: number;
}

/** With whom a call speaks. */
export function peerOf({ name, args, addresses }: CallRecord): NetworkPeer | undefined {
  const argument = syscallByName(name)?.args.find((each) => each.kind === "sockaddr")?.name;
  const text = argument === undefined ? addresses?.[0] : args[argument];
  if (typeof text !== "string") return undefined;
  const address = parseAddress(text);
  if (address?.family !== "ipv4" && address?.family !== "ipv6") return { text };
  return { text, host: address.host, port: address.port };
}

/** What a call is about, in a few words. */
export function subjectOf(record: CallRecord): string | undefined {
  const { argv } = record.args;
  if (Array.isArray(argv)) return argv.join(" ");
  return peerOf(record)?.text ?? record.paths?.join(" → ") ?? record.path ?? record.target;
}

/** How much of a function's texts is exported. */
const STRINGS = 64;

function verdict({ action, policy, rule }: CallRecord | FunctionRecord): string {
  return policy === undefined ? "" : `${action} by ${[policy, rule].filter(Boolean).join("/")}: `;
}

/** A sentence for a person. */
export function sentence(record: TraceRecord, actor: TracedProcess | undefined): string {
  const who = `${actor?.exe.split("/").at(-1) || "process"}[${actor?.pid ?? "?"}]`;
  switch (record.kind) {
    case "syscall": {
      const subject = subjectOf(record);
      const what = `${record.name}${subject === undefined ? "" : ` ${subject}`}`;
      const outcome = record.errno ?? record.result;
      return `${verdict(record)}${who} ${what}${outcome === undefined ? "" : ` = ${outcome}`}${record.reason ? ` (${record.reason})` : ""}`;
    }
    case "function":
      return `${verdict(record)}${who} ${record.name}(${argumentsText(record, STRINGS)}) = ${functionResult(record, STRINGS)}`;
    case "exec":
      return `${who} runs ${record.argv.join(" ")}`;
    case "fork":
      return `${who} starts ${record.child}`;
    case "exit":
      return `${who} ${record.signal === undefined ? `ends with ${record.code}` : `is ended by ${record.signal}`}`;
    case "dropped":
      return `${counted(record.count, "call")} not recorded`;
    case "policies":
      return `policies in force: ${record.policies.map((p) => `${p.name} ${p.version}`).join(", ")}`;
    case "end":
      return `the run ends with ${record.exitCode}`;
    case "header":
      return `run of ${record.command.join(" ")}`;
  }
}
