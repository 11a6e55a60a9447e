/** Every error that a user can meet: a stable code, the exit status and the message. */
const TABLE = {
  USAGE: { exit: 2, text: "{message}" },
  NATIVE_UNKNOWN: {
    exit: 125,
    text: "the native part of HERMES runs on Linux on x86_64 only, not on {platform}: here you can check and simulate policies, judge commands and analyse traces",
  },
  NATIVE_MISSING: {
    exit: 125,
    text: "cannot load the native part of HERMES: {why}; build it with `node {script}` (needs gcc)",
  },
  LAUNCH: { exit: 125, text: "cannot start {program}: {step} failed: {errno}" },
  NOT_FOUND: { exit: 127, text: "{program}: command not found" },
  NOT_EXECUTABLE: { exit: 126, text: "{program}: cannot execute: {errno}" },
  START_REFUSED: { exit: 126, text: "{program}: refused by {rule}: {reason}{allow}" },
  ALLOW: { exit: 1, text: "allow {id}: {message}" },
  ATTACH: { exit: 125, text: "cannot attach to process {pid}: {why}" },
  ATTACH_FILTER: { exit: 125, text: "cannot install a filter in process {pid}: {why}" },
  ATTACH_FORBIDDEN: { exit: 126, text: "cannot attach to process {pid}: {why}" },
  ATTACH_NOT_FOUND: { exit: 127, text: "there is no process {pid}" },
  WORKSPACE: {
    exit: 125,
    text: "the workspace would be {folder}, {why}, and {who} would open it to the program: start in the folder of a project, or name a workspace with --workspace FOLDER or HERMES_WORKSPACE (--workspace . means the current folder)",
  },
  SANDBOXED: {
    exit: 125,
    text: "HERMES runs inside a sandbox that refuses {calls}, without which it cannot hold a program: run HERMES outside of that sandbox. An agent's own sandbox is turned off in the agent, and then HERMES holds the agent whole: hermes agents says how",
  },
  UNAVAILABLE: { exit: 125, text: "this run needs {what}, which is not available here: {why}" },
  POLICY_NOT_FOUND: { exit: 125, text: "policy {file}: cannot read it: {errno}" },
  POLICY_UNKNOWN: {
    exit: 125,
    text: "policy {name}: no such file, and HERMES ships no policy of that name (shipped: {known})",
  },
  POLICY_SYNTAX: { exit: 125, text: "policy {file}: {message}" },
  POLICY_INVALID: { exit: 125, text: "policy {file}: {message}" },
  POLICY_THREW: { exit: 125, text: "policy {policy} failed on {event} at {where}: {message}" },
  CONFLICT: { exit: 125, text: "policies {a} and {b} both change {event}, in different ways" },
  PROTOTYPES: { exit: 125, text: "prototypes {file}: {message}" },
  WRONG_DOOR: {
    exit: 125,
    text: "{what} of {event}: only the trace door can read it, and the call came through the {door} door; add `inside: true` to the policy",
  },
  NOT_RECORDED: { exit: 125, text: "{what} of {event} is not in the recording" },
  EVENTS: { exit: 125, text: "{file}: {message}" },
  QUERY: { exit: 2, text: "the query failed: {message}" },
  COLLECTOR: { exit: 125, text: "the collector at {url} refused the spans: {message}" },
  OUTPUT: { exit: 125, text: "cannot write {file}: {errno}" },
  TRACE_OPEN: { exit: 125, text: "cannot write the trace to {file}: {errno}" },
  TRACE_WRITE: { exit: 125, text: "writing the trace to {file} failed: {errno}" },
  SKILL: { exit: 1, text: "skill {name}: {message}" },
  DELEGATION: { exit: 1, text: "cannot delegate: {message}" },
  OSV: { exit: 125, text: "advisories on packages: {message}" },
  PINS: { exit: 125, text: "pinned tools {file}: {message}" },
  URL_REFUSED: { exit: 4, text: "{url} is refused: {reason}" },
  FETCH: { exit: 125, text: "cannot fetch {url}: {message}" },
  CONFIG: { exit: 125, text: "configuration {file}: {message}" },
  SETTINGS: { exit: 1, text: "settings {file}: {message}" },
  APPROVAL: { exit: 1, text: "approval {id}: {message}" },
  CREDENTIAL_FILE: { exit: 125, text: "cannot register the credential file {path}: {why}" },
  BACKEND: { exit: 125, text: "cannot run in {where}: {message}" },
  LINK: { exit: 125, text: "the connection to the run in {where} was lost: {message}" },
  STORE: { exit: 125, text: "store {store}: {message}" },
  AUDIT: { exit: 125, text: "audit: {message}" },
  COVERAGE: { exit: 125, text: "{file}: {message}" },
  FLEET: { exit: 125, text: "fleet: {message}" },
  ELF_OPEN: { exit: 1, text: "cannot read {file}: {why}" },
  ELF_KIND: { exit: 1, text: "{file}: not an ELF file" },
  ELF_BROKEN: { exit: 1, text: "{file}: broken ELF file: {message}" },
  INSPECT: { exit: 1, text: "{file}: not an ELF file, but {what}" },
  INSPECT_FUNCTION: { exit: 1, text: "{file}: no function {name}{hint}" },
  ELF_MACHINE: { exit: 1, text: "{file}: its code is for {machine}; only x86-64 is supported" },
  SUPERVISOR: { exit: 125, text: "the supervisor failed: {message}" },
} as const;

export type ErrorCode = keyof typeof TABLE;

/** True when a word from outside this process is one of our error codes. */
export function isErrorCode(word: string): word is ErrorCode {
  return Object.hasOwn(TABLE, word);
}

export class HermesError extends Error {
  readonly code: ErrorCode;
  readonly exitCode: number;

  /**
   * The package is built as several bundles, and each has its own copy of this class. `instanceof` accepts
   * errors of any copy.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === "HermesError" && "exitCode" in value;
  }

  constructor(code: ErrorCode, fields: Record<string, string | number> = {}, options?: { cause?: unknown }) {
    super(
      TABLE[code].text.replace(/\{(\w+)\}/g, (whole, name: string) => String(fields[name] ?? whole)),
      options,
    );
    this.name = "HermesError";
    this.code = code;
    this.exitCode = TABLE[code].exit;
  }
}
