import { errnoNumber, parseFlags, signalNumber } from "../../abi/index.js";
import type { CType, Parameter, Prototype, Prototypes, Shown } from "../../binary/prototypes/index.js";
import { parseAddress } from "../../nouns/address.js";
import { HermesError } from "../../nouns/errors.js";
import type { CodePlace, FunctionReturnEvent, ProcessInfo } from "../../nouns/event.js";
import {
  type CallStack,
  callStack,
  frameOf,
  type MemoryMap,
  NO_MEMORY,
  type ProgramMemory,
  type Registers,
} from "../../nouns/inside.js";
import { encodeText } from "../../nouns/text.js";
import { moduleName } from "../../policy/function-pattern.js";
import type { FunctionRecord } from "../../record/trace/records.js";

/** A call of a function without a program: a policy decides on it as it would on the real one, as far as the record goes. */
export class RecordedFunction implements FunctionReturnEvent {
  readonly #record: FunctionRecord;
  readonly #prototype: Prototype | undefined;
  readonly #asReturn: boolean;
  /** The program that its process ran. */
  readonly exe: string;

  constructor(record: FunctionRecord, exe: string, prototypes: Prototypes, asReturn = false) {
    this.#record = record;
    this.exe = exe;
    this.#asReturn = asReturn;
    const { symbol } = this;
    this.#prototype = symbol === undefined ? undefined : prototypes.of(this.module, symbol);
  }

  get kind(): "function-return" {
    return (this.#asReturn ? "function-return" : "function") as "function-return";
  }
  get name(): string {
    return this.#record.name;
  }
  get module(): string {
    return this.name.slice(0, this.name.indexOf("!"));
  }
  get symbol(): string | undefined {
    const symbol = this.name.slice(this.name.indexOf("!") + 1);
    return /^0x[0-9a-f]+$/.test(symbol) ? undefined : symbol;
  }
  /** It is a function of the program itself. */
  get isMain(): boolean {
    return this.exe !== "" && moduleName(this.exe) === this.module;
  }
  get address(): bigint {
    const text = this.name.slice(this.name.indexOf("!") + 1);
    return this.symbol === undefined ? BigInt(text) : 0n;
  }
  get tid(): number {
    return this.#record.tid;
  }
  get time(): number {
    return this.#record.time;
  }
  get door(): "trace" {
    return "trace";
  }
  get elapsed(): number {
    return this.#asReturn ? (this.#record.elapsed ?? 0) : 0;
  }

  get process(): ProcessInfo {
    const { pid, tid } = this.#record;
    const parts = {
      parentPid: 1,
      parent: undefined,
      children: [],
      argv: [],
      cwd: "/",
      uid: 0,
      gid: 0,
      startTime: 0,
    };
    return { ...parts, pid, exe: this.exe, threads: [tid], fds: [], maps: [] };
  }

  // ---------------------------------------------------------------- arguments

  get args(): Readonly<Record<string, unknown>> {
    const { args } = this.#record;
    const { parameters = [], choices } = this.#prototype ?? {};
    const chosen = choices?.list.map(({ parameter }) => parameter) ?? [];
    const types = new Map([...chosen, ...parameters].map((parameter) => [parameter.name, parameter]));
    return Object.fromEntries(
      Object.entries(args).map(([name, shown]) => [name, shownValue(types.get(name), shown)]),
    );
  }

  #shown(i: number): unknown {
    return Object.values(this.args)[i];
  }

  argument(i: number): bigint {
    const value = this.#shown(i);
    return typeof value === "bigint" ? value : Number.isInteger(value) ? BigInt(value as number) : 0n;
  }
  float(i: number): number {
    const floats =
      this.#prototype?.parameters.flatMap(({ type }, k) => (type.kind === "float" ? [k] : [])) ?? [];
    const value = this.#shown(floats[i] ?? -1);
    return typeof value === "number" ? value : Number.NaN;
  }
  string(i: number): string | undefined {
    const value = this.#shown(i);
    return typeof value === "string" ? value : undefined;
  }

  // ---------------------------------------------------------------- its return

  get value(): unknown {
    return shownValue(this.#prototype?.result, this.#record.result ?? null);
  }
  get result(): number {
    const { value } = this;
    return typeof value === "number" ? value : Number(this.resultExact);
  }
  get resultExact(): bigint {
    const { value } = this;
    return typeof value === "bigint" ? value : Number.isInteger(value) ? BigInt(value as number) : 0n;
  }
  get resultFloat(): number {
    return typeof this.value === "number" ? this.value : Number.NaN;
  }
  resultString(): string | undefined {
    return typeof this.value === "string" ? this.value : undefined;
  }

  // ---------------------------------------------------------------- where

  get caller(): CodePlace {
    return frameOf(this.#record.caller ?? "0x0");
  }
  stack(limit = 64): CallStack {
    const { stack } = this.#record;
    if (!stack) throw new HermesError("NOT_RECORDED", { what: "the stack", event: this.name });
    const main = this.exe === "" ? undefined : moduleName(this.exe);
    const frames = stack.frames.slice(0, limit).map((text) => frameOf(text, main));
    return callStack(frames, stack.frames.length > limit ? "limit" : (stack.end ?? "start"));
  }
  registers(): Registers {
    throw new HermesError("NOT_RECORDED", { what: "the registers", event: this.name });
  }
  get memory(): ProgramMemory {
    return NO_MEMORY;
  }
  maps(): readonly MemoryMap[] {
    return [];
  }
}

/** What a policy would have been given, from what a record shows of it. */
function shownValue(parameter: Pick<Parameter, "type" | "length"> | undefined, shown: Shown): unknown {
  if (shown === null || typeof shown === "number") return shown;
  if (typeof shown === "string") return parameter ? textValue(parameter, shown) : hexValue(shown);
  if (Array.isArray(shown))
    return shown.map((each: Shown) => shownValue(parameter && { type: inner(parameter.type) }, each));
  if ("start" in shown && typeof shown.start === "string")
    return parameter?.length ? encodeText(shown.start) : shown.start;
  return fieldsOf(parameter?.type, shown as Record<string, Shown>);
}

function fieldsOf(type: CType | undefined, shown: Record<string, Shown>): Record<string, unknown> {
  const struct = type?.kind === "pointer" ? type.to : type;
  const types = new Map(struct?.kind === "struct" ? struct.fields?.map((field) => [field.name, field]) : []);
  return Object.fromEntries(
    Object.entries(shown).map(([name, each]) => [name, shownValue(types.get(name), each)]),
  );
}

function textValue({ type, length }: Pick<Parameter, "type" | "length">, shown: string): unknown {
  const at = leaf(type);
  if (at.kind === "int" && at.names) return numberOr(shown, () => parseFlags(at.names!, shown));
  if (at.kind === "int" && at.reads === "signal") return signalNumber(shown) ?? shown;
  if (at.kind === "int" && at.reads === "errno") return errnoNumber(shown) ?? shown;
  if (at.kind === "int" && at.reads === "octal") return Number.parseInt(shown, 8);
  if (type.kind === "int" || type.kind === "float") return numberOr(shown, () => Number(shown));
  if (at.kind === "struct" && at.name === "sockaddr") return parseAddress(shown) ?? hexValue(shown);
  if (length) return /^0x[0-9a-f]+$/.test(shown) ? BigInt(shown) : Buffer.from(encodeText(shown));
  return at.kind === "int" && (at.reads === "char" || at.reads === "wide") ? shown : hexValue(shown);
}

function numberOr(shown: string, read: () => number): unknown {
  try {
    return read();
  } catch {
    return shown;
  }
}

function hexValue(shown: string): unknown {
  return /^0x[0-9a-f]{1,16}$/.test(shown) ? BigInt(shown) : shown;
}

function inner(type: CType): CType {
  return type.kind === "pointer" ? type.to : type.kind === "array" ? type.of : type;
}

function leaf(type: CType): CType {
  let at = type;
  while (at.kind === "pointer" || at.kind === "array") at = inner(at);
  return at;
}
