import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import type { CallEvent, ProcessInfo } from "../event.js";
import { isExecutable, readMaps } from "../process/maps.js";
import { readEnv } from "../process/process.js";
import { decodeText } from "../text.js";
import { type Decision, deny } from "../verdict.js";
import { RunFile } from "./run-file.js";

const MAX_CHAIN = 5;
const SCRIPT_LINE = 256;
const ELF = 0x464c457f;
const PT_INTERP = 3;
const AT_FDCWD = -100;
/** The system's loaders come with every program; what else a program names as its loader is a program that runs. */
const LOADER = /^\/(usr\/)?lib(32|64|x32)?\/(\S+-linux-\w+\/)?ld-[\w.-]+\.so(\.\d+)*$/;

const BUSY = deny("what it would start cannot be read now: another process has a lease on it", "ETXTBSY");
/** Opening must not wait: not for the other end of a pipe, not for whoever has a lease on the file. */
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** What was judged of an execve that is on its way. */
interface Judged {
  readonly files: ReadonlySet<string>;
  readonly argv: readonly string[];
  /** Undefined when nobody looked at it. */
  readonly env: readonly string[] | undefined;
}

/** An execve as it was called. */
export interface ExecCall extends CallEvent {
  /** The environment, where somebody has looked at it. */
  readonly envSeen: readonly string[] | undefined;
}

export interface ExecJudge {
  decide(event: CallEvent): Decision;
  /** The canonical name of what a path reaches for the caller, and a way to read it. */
  reach(event: CallEvent, path: string): { readonly path: string; readonly open: string };
}

/**
 * To run a file is to run whatever the kernel starts for it: the interpreter that a script names, and the loader that a
 * program names. All of them are judged when the call is made, and once more on the real files and arguments when the
 * new program is in place and has not yet run: between the two, another thread or process may have exchanged anything.
 */
export class Execs {
  readonly #judge: ExecJudge;
  readonly #onTheirWay = new Map<number, Judged>();

  constructor(judge: ExecJudge) {
    this.#judge = judge;
  }

  /** The call itself was allowed: may what it would start run too? */
  entry(event: ExecCall, file: string, allowed: Decision): Decision {
    const files = new Set<string>();
    const named = isNamed(allowed);
    let { path = "", argv = [] } = event;
    let name = nameForInterpreter(event);
    let readable = file;
    for (let i = 0; i < MAX_CHAIN; i++) {
      files.add(path);
      const next = startedFor(readable);
      if (next === "busy") return { ...BUSY, rule: "unreadable", policy: "hermes", version: "" };
      if (!next || (next.kind === "program" && LOADER.test(next.path))) break;
      const interpreter = this.#judge.reach(event, next.path);
      if (next.kind === "script") {
        argv = [next.path, ...next.argument, name, ...argv.slice(1)];
        name = next.path;
      }
      if (!named) {
        const decision = this.#judge.decide(new RunFile(event, interpreter.path, argv, () => event.env));
        if (refuses(decision)) return decision;
      }
      readable = interpreter.open;
      path = interpreter.path;
    }
    // The kernel gives a program that is started without any words an empty one.
    const words = argv.length === 0 ? [""] : [...argv];
    this.#onTheirWay.set(event.tid, { files, argv: words, env: event.envSeen });
    return allowed;
  }

  /** A thread that is not the leader takes the leader's number when it execs. */
  moved(from: number, to: number): void {
    const judged = this.#onTheirWay.get(from);
    this.#onTheirWay.delete(from);
    if (judged) this.#onTheirWay.set(to, judged);
  }

  /** The new program is in place: what refuses it, if anything does. */
  inPlace(tid: number, event: CallEvent, process: ProcessInfo): Decision | undefined {
    const judged = this.#onTheirWay.get(tid);
    this.#onTheirWay.delete(tid);
    const { exe, argv } = process;
    const mapped = readMaps(tid).filter((map) => isExecutable(map) && map.path.startsWith("/"));
    const same = judged !== undefined && sameWords(judged.argv, argv) && sameEnv(judged, tid);
    for (const path of new Set([exe, ...mapped.map((map) => map.path)])) {
      if ((same && judged.files.has(path)) || LOADER.test(path)) continue;
      const decision = this.#judge.decide(new RunFile(event, path, argv, () => readEnv(tid)));
      // The program itself was judged as something else, and so nothing has allowed it yet: the default counts too.
      const isOther = judged !== undefined && path === exe && isRefusal(decision);
      if (isOther || refuses(decision)) return decision;
    }
    return undefined;
  }

  gone(tid: number): void {
    this.#onTheirWay.delete(tid);
  }
}

/** A rule that permits a program permits its interpreter with it. */
function isNamed({ action, rule }: Decision): boolean {
  return action === "allow" && rule !== undefined && rule !== "default";
}

function isRefusal({ action }: Decision): boolean {
  return action === "deny" || action === "kill" || action === "ask";
}

/** What a rule refuses is refused however it is started. */
function refuses(decision: Decision): boolean {
  return isRefusal(decision) && decision.rule !== "default";
}

/** Only where somebody decided on the environment: nobody else minds. */
function sameEnv({ env }: Judged, tid: number): boolean {
  return env === undefined || sameWords(env, readEnv(tid));
}

/** How the kernel names a script to its interpreter: execveat(2). */
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
 * What the kernel starts to run this file: undefined when it is the file itself, or cannot be known. Only regular files
 * are opened: the kernel executes nothing else, and to read a pipe or a device would wait, or do something.
 */
function startedFor(file: string): Started | "busy" | undefined {
  let fd: number;
  try {
    if (!statSync(file).isFile()) return undefined;
    fd = openSync(file, AT_ONCE);
  } catch (error) {
    // One that may be executed and not read: the real files are looked at when they are in place.
    return (error as NodeJS.ErrnoException).code === "EAGAIN" ? "busy" : undefined;
  }
  try {
    if (!fstatSync(fd).isFile()) return undefined;
    const head = Buffer.alloc(SCRIPT_LINE);
    const length = readSync(fd, head, 0, head.length, 0);
    if (length > 2 && head[0] === 0x23 && head[1] === 0x21) return script(head.subarray(2, length));
    return length >= 64 && head.readUInt32LE(0) === ELF ? loader(fd, head) : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

/** `#! interpreter one argument with spaces` (execve(2)). */
function script(line: Buffer): Started | undefined {
  const end = line.indexOf("\n");
  const text = decodeText(end < 0 ? line : line.subarray(0, end)).replace(/^[ \t]+|[ \t\0]+$/g, "");
  const [, path, argument] = /^([^ \t\0]+)[ \t]*(.*)$/s.exec(text) ?? [];
  return path ? { kind: "script", path, argument: argument ? [argument] : [] } : undefined;
}

function loader(fd: number, head: Buffer): Started | undefined {
  const at = Number(head.readBigUInt64LE(32));
  const size = head.readUInt16LE(54);
  const count = Math.min(head.readUInt16LE(56), 128);
  const entry = Buffer.alloc(56);
  for (let i = 0; i < count && size >= entry.length; i++) {
    if (readSync(fd, entry, 0, entry.length, at + i * size) < entry.length) return undefined;
    if (entry.readUInt32LE(0) !== PT_INTERP) continue;
    const name = Buffer.alloc(Math.min(Number(entry.readBigUInt64LE(32)), 4096));
    readSync(fd, name, 0, name.length, Number(entry.readBigUInt64LE(8)));
    const end = name.indexOf(0);
    const path = decodeText(end < 0 ? name : name.subarray(0, end));
    return path ? { kind: "program", path } : undefined;
  }
  return undefined;
}
