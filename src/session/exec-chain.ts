import { AT_FDCWD } from "../abi/named.js";
import type { NewProgram } from "../kernel/decode/new-program.js";
import type { PinnedFile } from "../kernel/decode/reach-path.js";
import { readEnv } from "../kernel/process/process.js";
import type { CallEvent } from "../nouns/event.js";
import { decodeText } from "../nouns/text.js";
import { type Decision, deny } from "../nouns/verdict.js";
import { RunFile } from "./run-file.js";

const MAX_CHAIN = 5;
const SCRIPT_LINE = 256;
/** Holds the program headers and the loader's name of nearly every program: one request to the broker instead of three. */
const FIRST_READ = 2048;
const ELF = 0x464c457f;
const PT_INTERP = 3;
const PROGRAM_HEADER = 56;
const MAX_HEADERS = 128;
/**
 * The system's loaders, which come with every program. Any other loader that a program names is judged as a
 * program.
 */
const LOADER = /^\/(usr\/)?lib(32|64|x32)?\/(\S+-linux-\w+\/)?ld-[\w.-]+\.so(\.\d+)*$/;

const BUSY = deny(
  "HERMES cannot read the file that it would start: another process has a lease on it; try again",
  "ETXTBSY",
);

/** What was judged of an execve in progress. */
interface Judged {
  /** The file that the call named. */
  readonly named: string;
  readonly files: ReadonlySet<string>;
  readonly argv: readonly string[];
  /** Undefined when no policy read it. */
  readonly env: readonly string[] | undefined;
}

/** What the exec cache knew is not what runs. */
const ANOTHER: Judged = { named: "", files: new Set(), argv: [], env: undefined };

/** An execve at its entry. */
interface ExecCall extends CallEvent {
  /** The environment, if a policy has read it. */
  readonly envSeen: readonly string[] | undefined;
}

interface ExecDecider {
  decide(event: CallEvent): Decision;
  /** Resolves a path as the caller would. */
  reach(event: CallEvent, path: string): PinnedFile;
}

/**
 * Running a file runs everything that the kernel starts for it: the interpreter that a script names, and the
 * loader that a program names. All of them are judged at the call. They are judged again on the real files
 * and arguments when the new program is loaded and has not yet run, because another thread or process may
 * have exchanged anything in between.
 */
export class Execs {
  readonly #judge: ExecDecider;
  readonly #onTheirWay = new Map<number, Judged>();

  constructor(judge: ExecDecider) {
    this.#judge = judge;
  }

  /** The call itself was allowed. Decides on what it would start. */
  entry(event: ExecCall, file: PinnedFile, allowed: Decision): Decision {
    const held: PinnedFile[] = [];
    try {
      return this.#chain(event, file, allowed, held);
    } finally {
      for (const interpreter of held) interpreter.release();
    }
  }

  #chain(event: ExecCall, file: PinnedFile, allowed: Decision, held: PinnedFile[]): Decision {
    const files = new Set<string>();
    const named = isNamed(allowed);
    let { argv = [] } = event;
    let name = nameForInterpreter(event);
    let started = file;
    for (let i = 0; i < MAX_CHAIN; i++) {
      files.add(started.path);
      const next = startedFor(started);
      if (next === "busy") return { ...BUSY, rule: "unreadable", policy: "hermes", version: "" };
      if (!next || (next.kind === "program" && LOADER.test(next.path))) break;
      const interpreter = this.#judge.reach(event, next.path);
      held.push(interpreter);
      if (next.kind === "script") {
        argv = [next.path, ...next.argument, name, ...argv.slice(1)];
        name = next.path;
      }
      if (!named) {
        const decision = this.#judge.decide(new RunFile(event, interpreter.path, argv, () => event.env));
        if (refuses(decision)) return decision;
      }
      started = interpreter;
    }
    // The kernel passes an empty argv[0] to a program that is started without arguments.
    const words = argv.length === 0 ? [""] : [...argv];
    this.#onTheirWay.set(event.tid, { named: file.path, files, argv: words, env: event.envSeen });
    return allowed;
  }

  /** A thread that calls exec takes over the leader's tid. */
  moved(from: number, to: number): void {
    const judged = this.#onTheirWay.get(from);
    this.#onTheirWay.delete(from);
    if (judged) this.#onTheirWay.set(to, judged);
  }

  /** The new program is loaded. Returns the decision that refuses it, if any; or that it is the file that was judged, and no script. */
  inPlace(tid: number, event: CallEvent, program: NewProgram): Decision | "as judged" | undefined {
    const judged = program.wasCached ? ANOTHER : this.#onTheirWay.get(tid);
    this.#onTheirWay.delete(tid);
    const { exe, argv, code } = program;
    const same = judged !== undefined && sameWords(judged.argv, argv) && sameEnv(judged, tid);
    for (const path of new Set([exe, ...code])) {
      if ((same && judged.files.has(path)) || LOADER.test(path)) continue;
      const decision = this.#judge.decide(new RunFile(event, path, argv, () => readEnv(tid)));
      // The program itself was judged as another file, so nothing has allowed it yet: the default counts too.
      const isOther = judged !== undefined && path === exe && isRefusal(decision);
      if (isOther || refuses(decision)) return decision;
    }
    return same && judged.named === exe ? "as judged" : undefined;
  }

  gone(tid: number): void {
    this.#onTheirWay.delete(tid);
  }
}

/** A rule that permits a program also permits its interpreter. */
function isNamed({ action, rule }: Decision): boolean {
  return action === "allow" && rule !== undefined && rule !== "default";
}

function isRefusal({ action }: Decision): boolean {
  return action === "deny" || action === "kill" || action === "ask";
}

/** A program that a rule refuses is refused however it is started. */
function refuses(decision: Decision): boolean {
  return isRefusal(decision) && decision.rule !== "default";
}

/** Compares the environment only if a policy decided on it. */
function sameEnv({ env }: Judged, tid: number): boolean {
  return env === undefined || sameWords(env, readEnv(tid));
}

/** The name that the kernel passes to a script's interpreter: execveat(2). */
function nameForInterpreter(event: CallEvent): string {
  const { name, requested = "", path } = event;
  const dirfd = name === "execveat" ? Number(BigInt.asIntN(32, event.argument(0))) : AT_FDCWD;
  if (dirfd === AT_FDCWD || requested.startsWith("/")) return requested || (path ?? "");
  return requested === "" ? `/dev/fd/${dirfd}` : `/dev/fd/${dirfd}/${requested}`;
}

function sameWords(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, i) => word === b[i]);
}

type Started =
  | { readonly kind: "script"; readonly path: string; readonly argument: readonly string[] }
  | { readonly kind: "program"; readonly path: string };

/**
 * The program that the kernel starts to run this file: undefined when it is the file itself, or unknown. A
 * file that is executable but not readable is judged when it is loaded.
 */
function startedFor(file: PinnedFile): Started | "busy" | undefined {
  const head = file.read(0, FIRST_READ);
  if (head === "busy") return "busy";
  if (head.length > 2 && head[0] === 0x23 && head[1] === 0x21) return script(head.subarray(2, SCRIPT_LINE));
  return head.length >= 64 && head.readUInt32LE(0) === ELF ? loader(file, head) : undefined;
}

/** `#! interpreter one argument with spaces` (execve(2)). */
function script(line: Buffer): Started | undefined {
  const end = line.indexOf("\n");
  const text = decodeText(end < 0 ? line : line.subarray(0, end)).replace(/^[ \t]+|[ \t\0]+$/g, "");
  const [, path, argument] = /^([^ \t\0]+)[ \t]*(.*)$/s.exec(text) ?? [];
  return path ? { kind: "script", path, argument: argument ? [argument] : [] } : undefined;
}

function loader(file: PinnedFile, head: Buffer): Started | "busy" | undefined {
  const at = Number(head.readBigUInt64LE(32));
  const size = head.readUInt16LE(54);
  const count = Math.min(head.readUInt16LE(56), MAX_HEADERS);
  if (size < PROGRAM_HEADER) return undefined;
  const read = (from: number, length: number) =>
    from + length <= head.length ? head.subarray(from, from + length) : file.read(from, length);
  const table = read(at, Math.min(size * count, MAX_HEADERS * PROGRAM_HEADER));
  if (table === "busy") return "busy";
  for (let entry = 0; entry + PROGRAM_HEADER <= table.length; entry += size) {
    if (table.readUInt32LE(entry) !== PT_INTERP) continue;
    const length = Math.min(Number(table.readBigUInt64LE(entry + 32)), 4096);
    const name = read(Number(table.readBigUInt64LE(entry + 8)), length);
    if (name === "busy") return "busy";
    const end = name.indexOf(0);
    const path = decodeText(end < 0 ? name : name.subarray(0, end));
    return path ? { kind: "program", path } : undefined;
  }
  return undefined;
}
