import { formatAddress } from "../../nouns/address.js";
import type { CallEvent, FunctionEvent, InstructionEvent, ProcessInfo } from "../../nouns/event.js";
import type { Decision } from "../../nouns/verdict.js";

/** What an approver is asked about a running program: may this happen? Plain data: it crosses to another thread. */
export interface Question {
  readonly id: number;
  readonly call: string;
  /** In words, with everything that an answer depends on: `run git push`, `openat /etc/shadow (O_RDONLY)`, `connect 10.0.0.1:443`. */
  readonly what: string;
  /** What it is done to, for rules: the canonical path, the address, the words of a command. */
  readonly subject: QuestionSubject;
  /** Of a command: the folder that it would run in. */
  readonly cwd?: string;
  /** The process that asks, then its parent, and so on. */
  readonly who: readonly Asker[];
  readonly policy: string;
  readonly rule?: string;
  readonly reason?: string;
  /** Milliseconds that the program is held at most; no answer by then is a refusal. */
  readonly patience: number;
}

interface QuestionSubject {
  readonly path?: string;
  readonly address?: string;
  readonly argv?: readonly string[];
}

interface Asker {
  readonly pid: number;
  readonly argv: readonly string[];
}

/** No process above it belongs to the session. */
const LAUNCHER = "hermes-launch";
const MAX_ANCESTORS = 6;
/** Of an ancestor's command line, which is shown for orientation only. */
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
    ...(subject.argv && { cwd: event.process.cwd }),
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

/** Two questions with the same key are the same question: all that is shown counts, the flags of an open too. */
export function keyOf({ policy, rule, call, subject, what, cwd }: Question): string {
  return JSON.stringify([policy, rule, call, subject, what, cwd]);
}

function subjectOf(event: CallEvent): QuestionSubject {
  const { path, address, argv } = event;
  return {
    ...(path !== undefined && { path }),
    ...(address && { address: formatAddress(address) }),
    ...(argv && { argv: [...argv] }),
  };
}

/** A call in words. */
export function describe(event: CallEvent, { argv, address }: QuestionSubject = subjectOf(event)): string {
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
function shellWords(argv: readonly string[]): string {
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

/** Data can be long: a question shows its beginning and its length. */
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
