import { formatAddress } from "../address.js";
import type { CallEvent, FunctionEvent, InstructionEvent, ProcessInfo } from "../event.js";
import type { Decision } from "../verdict.js";

/** What a person is asked: may this happen? Plain data, since it is asked in another thread. */
export interface Question {
  readonly id: number;
  readonly call: string;
  /** The deed in words: `run git push`, `openat /etc/shadow (O_RDONLY)`, `connect 10.0.0.1:443`. */
  readonly what: string;
  /** What it is done to, for rules: the canonical path, the address, the words of a command. */
  readonly subject: Subject;
  /** Who asks for it, then its parent, and so on. */
  readonly who: readonly Asker[];
  readonly policy: string;
  readonly rule?: string;
  readonly reason?: string;
  /** Milliseconds; no answer by then is a no. */
  readonly patience: number;
}

export interface Subject {
  readonly path?: string;
  readonly address?: string;
  readonly argv?: readonly string[];
}

export interface Asker {
  readonly pid: number;
  readonly argv: readonly string[];
}

/** Once; whenever the same is asked in this session; whenever it is asked, also in other sessions; no. */
export const ANSWERS = ["once", "session", "always", "no"] as const;
export type Answer = (typeof ANSWERS)[number];

/** Above it is no process of the session. */
const LAUNCHER = "hermes-launch";
const MAX_ANCESTORS = 6;
/** Of an ancestor's command line, which is told for orientation. */
const MAX_WORDS = 40;
const MAX_BYTES = 1000;

export function questionOf(id: number, event: CallEvent, decision: Decision, patience: number): Question {
  const { policy, rule, reason } = decision;
  const subject = subjectOf(event);
  return {
    id,
    call: event.name,
    what: describe(event, subject),
    subject,
    who: lineage(event.process),
    policy,
    patience,
    ...(rule !== undefined && { rule }),
    ...(reason !== undefined && { reason }),
  };
}

/** The same about a function inside the program. */
export function functionQuestion(
  id: number,
  event: FunctionEvent,
  decision: Decision,
  patience: number,
): Question {
  return insideQuestion(id, `call ${event.name}(${functionWords(event)})`, event, decision, patience);
}

export function instructionQuestion(
  id: number,
  event: InstructionEvent,
  decision: Decision,
  patience: number,
): Question {
  const what = `execute ${event.name}${event.module === undefined ? "" : ` in ${event.module}`}`;
  return insideQuestion(id, what, event, decision, patience);
}

function insideQuestion(
  id: number,
  what: string,
  { name, process }: FunctionEvent | InstructionEvent,
  { policy, rule, reason }: Decision,
  patience: number,
): Question {
  return {
    id,
    call: name,
    what,
    subject: {},
    who: lineage(process),
    policy,
    patience,
    ...(rule !== undefined && { rule }),
    ...(reason !== undefined && { reason }),
  };
}

function functionWords(event: FunctionEvent): string {
  return Object.entries(event.args)
    .map(([name, value]) => {
      return `${/^\d+$/.test(name) ? "" : `${name}=`}${valueText(value)}`;
    })
    .join(", ");
}

/** Two questions with the same key are the same question. */
export function keyOf({ policy, rule, call, subject, what }: Question): string {
  const about = (subject.path ?? subject.address ?? subject.argv) ? subject : what;
  return JSON.stringify([policy, rule, call, about]);
}

function subjectOf(event: CallEvent): Subject {
  const { path, address, argv } = event;
  return {
    ...(path !== undefined && { path }),
    ...(address && { address: formatAddress(address) }),
    ...(argv && { argv: [...argv] }),
  };
}

/** The deed in words. */
export function describe(event: CallEvent, { argv, address }: Subject = subjectOf(event)): string {
  if (argv) return `run ${shellWords(argv)}`;
  const on = address ?? event.paths.map(({ path }) => path).join(" → ");
  const flags = event.flags.length > 0 && on !== "" ? ` (${event.flags.join("|")})` : "";
  return `${event.name} ${on || words(event)}${flags}`;
}

function words(event: CallEvent): string {
  return Object.entries(event.args)
    .map(([name, value]) => `${name}=${valueText(value)}`)
    .join(", ");
}

/** As a shell would read them, so that no two commands look alike. */
export function shellWords(argv: readonly string[]): string {
  return argv.map((word) => (PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

const PLAIN_WORD = /^[\w@%+=:,./~-]+$/;

function valueText(value: unknown): string {
  if (value instanceof Uint8Array) return bytesText(value);
  if (typeof value !== "object" || value === null) return String(value);
  return JSON.stringify(value, (_, inner) =>
    typeof inner === "bigint" ? `${inner}` : inner instanceof Uint8Array ? bytesText(inner) : inner,
  );
}

/** Data can be long, and is what the question is about only for calls that have nothing else: how much there is, is told. */
function bytesText(bytes: Uint8Array): string {
  const shown = JSON.stringify(Buffer.from(bytes.subarray(0, MAX_BYTES)).toString("latin1"));
  return bytes.length > MAX_BYTES ? `${shown} and ${bytes.length - MAX_BYTES} bytes more` : shown;
}

function lineage(process: ProcessInfo): Asker[] {
  const found: Asker[] = [];
  for (let at: ProcessInfo | undefined = process; at && found.length < MAX_ANCESTORS; at = at.parent) {
    if (at.argv[0] === LAUNCHER) break;
    found.push({ pid: at.pid, argv: at.argv.slice(0, MAX_WORDS) });
  }
  return found;
}
