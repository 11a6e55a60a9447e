import {
  errnoNumber,
  parseFlags,
  type Syscall,
  type SyscallArguments,
  type SyscallName,
  signalName,
  signalNumber,
  syscallByName,
} from "../../abi/index.js";
import { type Address, parseAddress } from "../../nouns/address.js";
import { HermesError } from "../../nouns/errors.js";
import {
  type CallEvent,
  type Descriptor,
  NO_KIN,
  type PathArgument,
  type ProcessInfo,
  type Receiver,
  type ReturnEvent,
} from "../../nouns/event.js";
import {
  type CallStack,
  callStack,
  frameOf,
  type MemoryMap,
  NO_MEMORY,
  type ProgramMemory,
  type RecordedStack,
  type Registers,
} from "../../nouns/inside.js";
import { encodeText } from "../../nouns/text.js";
import { moduleName } from "../../policy/function-pattern.js";

/** A call as a trace holds it (docs/reference/trace-format.md), or as a person writes it down; all but the name may be missing. */
export interface PartialCallRecord {
  readonly name: string;
  readonly time?: number;
  readonly pid?: number;
  readonly tid?: number;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly path?: string;
  readonly paths?: readonly string[];
  readonly addresses?: readonly string[];
  readonly controls?: readonly string[];
  readonly receivers?: readonly Receiver[];
  readonly requested?: string;
  readonly target?: string;
  readonly address?: string;
  readonly argv?: readonly string[];
  readonly env?: readonly string[];
  readonly data?: string;
  readonly flags?: readonly string[] | string;
  readonly process?: Partial<ProcessInfo>;
  readonly result?: number;
  readonly errno?: string;
  readonly elapsed?: number;
  readonly stack?: RecordedStack;
}

const AT_FDCWD = -100;

/** An event without a program: a policy decides on it as it would on the real one, as far as the record goes. */
export class RecordedCall implements CallEvent, ReturnEvent {
  readonly call: Syscall;
  readonly #record: PartialCallRecord;
  readonly #asReturn: boolean;

  constructor(record: PartialCallRecord, asReturn = false) {
    const call = syscallByName(record.name);
    if (!call) throw new RangeError(`"${record.name}" is not a system call`);
    this.call = call;
    this.#record = record;
    this.#asReturn = asReturn;
  }

  readonly kin = NO_KIN;

  get kind(): "return" {
    return (this.#asReturn ? "return" : "syscall") as "return";
  }
  get name(): SyscallName {
    return this.call.name as SyscallName;
  }
  get nr(): number {
    return this.call.nr;
  }
  get classes(): readonly string[] {
    return this.call.classes;
  }
  get tid(): number {
    return this.#record.tid ?? this.#record.pid ?? 1;
  }
  get time(): number {
    return this.#record.time ?? Date.now() / 1000;
  }
  get door(): "notify" | "trace" {
    return "trace";
  }

  get process(): ProcessInfo {
    const pid = this.#record.pid ?? this.tid;
    return {
      pid,
      parentPid: 1,
      parent: undefined,
      children: [],
      exe: "",
      argv: [],
      cwd: "/",
      uid: 0,
      gid: 0,
      startTime: 0,
      threads: [this.tid],
      fds: [],
      maps: [],
      ...this.#record.process,
    };
  }

  get args(): SyscallArguments[SyscallName] {
    const values = Object.fromEntries(this.call.args.map((a, i) => [a.name, this.#value(i)]));
    return values as SyscallArguments[SyscallName];
  }

  argument(i: number): bigint {
    const value = this.#value(i);
    return typeof value === "bigint" ? value : typeof value === "number" ? BigInt(value) : 0n;
  }

  /** The number, text or bytes behind what a record shows of an argument. */
  #value(i: number): unknown {
    const { name, kind, flags, width } = this.call.args[i]!;
    const shown = this.#record.args?.[name];
    if (kind === "path") return shown ?? (i === this.#pathIndexes()[0] ? this.requested : undefined);
    if (kind === "flags" && shown === undefined && this.#record.flags !== undefined && flags !== undefined)
      return parseFlags(flags, [this.#record.flags].flat().join("|"));
    if (typeof shown === "string") {
      if (shown === "AT_FDCWD") return AT_FDCWD;
      if (kind === "flags" && flags !== undefined) return parseFlags(flags, shown);
      if (kind === "mode") return Number.parseInt(shown, 8);
      if (kind === "signal") return signalNumber(shown) ?? 0;
      if (/^0x[0-9a-f]+$/.test(shown)) return width === 64 ? BigInt(shown) : Number(shown);
      if (kind === "buffer" || kind === "iovec") return encodeText(shown);
      if (kind === "struct") return Buffer.from(shown, "hex");
    }
    if (shown !== undefined && shown !== null) return shown;
    return kind === "address"
      ? 0n
      : ["int", "uint", "size", "fd", "pid", "flags", "mode"].includes(kind)
        ? 0
        : undefined;
  }

  #pathIndexes(): number[] {
    return this.call.args.flatMap((a, i) => (a.kind === "path" ? [i] : []));
  }

  get path(): string | undefined {
    return this.paths[0]?.path;
  }

  get requested(): string | undefined {
    const [first] = this.#pathIndexes();
    if (first === undefined) return undefined;
    const shown = this.#record.args?.[this.call.args[first]!.name];
    return this.#record.requested ?? (typeof shown === "string" ? shown : this.#record.path);
  }

  get paths(): readonly PathArgument[] {
    return this.#pathIndexes().flatMap((index, order) => {
      const argument = this.call.args[index]!.name;
      const shown = this.#record.args?.[argument];
      const requested = typeof shown === "string" ? shown : order === 0 ? this.#record.path : undefined;
      if (requested === undefined) return [];
      const path = this.#record.paths?.[order] ?? (order === 0 ? this.#record.path : undefined) ?? requested;
      return [{ argument, requested, path }];
    });
  }

  get fd(): Descriptor | undefined {
    const index = this.call.args.findIndex((a) => a.kind === "fd" || a.kind === "dirfd");
    const number = index < 0 ? undefined : this.#value(index);
    if (typeof number !== "number" || number === AT_FDCWD) return undefined;
    const { target } = this.#record;
    return { number, target, kind: kindOf(target), local: undefined, peer: undefined };
  }

  get address(): Address | undefined {
    const index = this.call.args.findIndex((a) => a.kind === "sockaddr");
    const shown =
      this.#record.address ??
      this.#record.addresses?.[0] ??
      (index < 0 ? undefined : this.#record.args?.[this.call.args[index]!.name]);
    return typeof shown === "string" ? parseAddress(shown) : undefined;
  }

  get addresses(): readonly Address[] {
    const shown = this.#record.addresses?.flatMap((text) => parseAddress(text) ?? []);
    return shown ?? (this.address ? [this.address] : []);
  }

  get controls(): readonly string[] {
    return this.#record.controls ?? [];
  }

  get receivers(): readonly Receiver[] {
    return this.#record.receivers ?? [];
  }

  get signal(): string | undefined {
    const at = this.call.args.findIndex(({ kind }) => kind === "signal");
    return at < 0 ? undefined : signalName(Number(this.argument(at)));
  }

  get argv(): readonly string[] | undefined {
    const shown = this.#record.argv ?? this.#record.args?.argv;
    return Array.isArray(shown) ? shown : undefined;
  }

  get env(): readonly string[] | undefined {
    return this.#record.env;
  }

  get flags(): readonly string[] {
    const { flags, args } = this.#record;
    if (flags !== undefined) return typeof flags === "string" ? flags.split("|") : flags;
    const argument =
      this.call.args.find((a) => a.kind === "flags" && a.name.startsWith("flag")) ??
      this.call.args.find((a) => a.kind === "flags");
    const shown = argument && args?.[argument.name];
    return typeof shown === "string" ? shown.split("|") : [];
  }

  get data(): Buffer | undefined {
    const argument = this.call.args.find((a) => a.kind === "buffer" || a.kind === "iovec");
    const shown = this.#record.data ?? (argument && this.#record.args?.[argument.name]);
    const text = typeof shown === "object" && shown !== null ? (shown as { start?: string }).start : shown;
    return typeof text === "string" ? Buffer.from(encodeText(text)) : undefined;
  }

  readonly memory: ProgramMemory = NO_MEMORY;

  stack(limit = Number.POSITIVE_INFINITY): CallStack {
    const { stack } = this.#record;
    if (!stack) throw new HermesError("NOT_RECORDED", { what: "the stack", event: this.name });
    const main = stack.main ?? moduleName(this.process.exe);
    const frames = stack.frames.slice(0, limit).map((text) => frameOf(text, main));
    return callStack(frames, frames.length < stack.frames.length ? "limit" : (stack.end ?? "start"));
  }

  registers(): Registers {
    throw new HermesError("NOT_RECORDED", { what: "the registers", event: this.name });
  }

  maps(): readonly MemoryMap[] {
    return this.process.maps;
  }

  get result(): number {
    const { result, errno } = this.#record;
    return result ?? (errno === undefined ? 0 : -(errnoNumber(errno) ?? 0));
  }
  get resultExact(): bigint {
    return BigInt(Math.trunc(this.result));
  }
  get errno(): string | undefined {
    return this.#record.errno;
  }
  get elapsed(): number {
    return this.#record.elapsed ?? 0;
  }
}

function kindOf(target: string | undefined): Descriptor["kind"] {
  if (target === undefined) return "closed";
  if (target.startsWith("/")) return "file";
  if (target.startsWith("pipe:")) return "pipe";
  return target.startsWith("socket:") ? "socket" : "anonymous";
}
