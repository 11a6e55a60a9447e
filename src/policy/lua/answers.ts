import { errnoNumber, signalNumber, syscallByNumber } from "../../abi/index.js";
import { type Address, parseAddress } from "../../nouns/address.js";
import type { CallEvent, FunctionEvent } from "../../nouns/event.js";
import { decodeText } from "../../nouns/text.js";
import {
  allow,
  ask,
  type CallChange,
  deny,
  emulate,
  type Fault,
  fault,
  kill,
  modify,
  type RegisterValues,
  type Verdict,
  virtualFile,
} from "../../nouns/verdict.js";
import { stricterVerdict } from "../check-verdict.js";
import { type LuaEngine, REGISTRY } from "./engine.js";
import type { Pointer } from "./machine.js";
import { TYPE } from "./values.js";

/** The verdict on the current event. A call of hermes.deny() counts, whether its value is returned or not. */
export class Answers {
  readonly #engine: LuaEngine;
  readonly #policy: () => string;
  #event: CallEvent | FunctionEvent | undefined;
  #settled: Verdict | undefined;
  /** Words returned before, by address: Lua keeps one copy of a short string, and we keep that alive. */
  readonly #words = new Map<Pointer, () => Verdict>();

  constructor(engine: LuaEngine, policy: () => string) {
    this.#engine = engine;
    this.#policy = policy;
  }

  get event(): CallEvent | FunctionEvent | undefined {
    return this.#event;
  }

  begin(event: CallEvent | FunctionEvent): void {
    this.#event = event;
    this.#settled = undefined;
  }

  end(): Verdict | undefined {
    this.#event = undefined;
    return this.#settled;
  }

  /** Of several verdicts the strictest wins; compatible changes are combined. */
  settle(verdict: Verdict): void {
    const before = this.#settled;
    this.#settled =
      before?.action === "modify" && verdict.action === "modify"
        ? { ...before, ...verdict, change: joinChanges(before.change!, verdict.change!) }
        : before?.action === "fault" && verdict.action === "fault"
          ? { ...before, ...verdict, fault: { ...before.fault, ...verdict.fault } }
          : stricterVerdict(before, verdict, () => [this.#policy(), this.#policy(), this.#event!.name]);
  }

  /** Handles a handler's return value: nothing, a verdict of hermes, or a word. */
  returned(L: Pointer, index: number): void {
    const type = this.#engine.type(L, index);
    if (type === TYPE.nil || type === TYPE.lightuserdata) return;
    const known = type === TYPE.string && this.#words.get(this.#engine.x.lua_tolstring(L, index, 0));
    if (known) {
      this.settle(known());
      return;
    }
    const word = this.#engine.text(L, index);
    const verdict = word === undefined ? undefined : WORDS[word.toUpperCase()];
    if (!verdict)
      throw new TypeError(
        `it answered ${word === undefined ? `a ${this.#engine.typeName(L, index)}` : JSON.stringify(word)}, which is not a verdict: return "ALLOW", "BLOCK", hermes.deny() …, or nothing`,
      );
    this.#engine.x.lua_pushvalue(L, index);
    this.#words.set(this.#engine.x.lua_tolstring(L, -1, 0), verdict);
    this.#engine.x.luaL_ref(L, REGISTRY);
    this.settle(verdict());
  }

  /** The functions of `hermes` that give a verdict. */
  functions(): Record<string, (L: Pointer) => Verdict> {
    return {
      allow: (L) => allow(this.#reason(L, 1)),
      deny: (L) => deny(this.#reason(L, 1), this.#errno(L, 2)),
      kill: (L) => kill(this.#reason(L, 1)),
      ask: (L) => ask(this.#reason(L, 1) ?? "a policy asks"),
      redirect: (L) => modifyWith({ to: this.#target(L) }, this.#reason(L, 2)),
      modify_arg: (L) =>
        modifyWith(
          { args: { [this.#argument(L, 1, "modify_arg")]: this.#argumentValue(L, 2) } },
          this.#reason(L, 3),
        ),
      modify_data: (L) => modifyWith({ data: this.#bytes(L, 1, "modify_data") }, this.#reason(L, 2)),
      modify_result: (L) => modifyWith({ result: this.#result(L, "modify_result") }, this.#reason(L, 2)),
      emulate: (L) => this.#emulate(L),
      set_registers: (L) =>
        modifyWith({ registers: this.#registers(L, "set_registers") }, this.#reason(L, 2)),
      skip: (L) => emulate(0, { registers: this.#registers(L, "skip") }, this.#reason(L, 2)),
      virtual_file: (L) => virtualFile(this.#bytes(L, 1, "virtual_file"), this.#reason(L, 2)),
      fault: (L) => this.#fault(L),
      delay: (L) => fault({ delay: this.#milliseconds(L, 1) }, this.#reason(L, 2)),
    };
  }

  /** Gives a verdict from inside a handler; the returned value marks that. */
  answer(L: Pointer, name: string, make: (L: Pointer) => Verdict): number {
    if (!this.#event) throw new Error(`hermes.${name} answers an event: call it inside a handler`);
    this.#engine.x.lua_settop(L, 3);
    this.settle(make(L));
    this.#engine.x.lua_pushlightuserdata(L, 1);
    return 1;
  }

  #reason(L: Pointer, index: number): string | undefined {
    const e = this.#engine;
    switch (e.type(L, index)) {
      case TYPE.nil:
        return undefined;
      case TYPE.string:
        return e.clipped(L, index);
      case TYPE.number:
        return String(e.number(L, index));
      default:
        throw new TypeError(`a reason is text, not a ${e.typeName(L, index)}`);
    }
  }

  #errno(L: Pointer, index: number): string | number {
    const given = this.#engine.value(L, index);
    if (given === undefined) return "EACCES";
    return checkErrno(given);
  }

  /** `takes` completes the sentence `hermes.emulate takes …` of the error. */
  #integer(L: Pointer, index: number, what: string, takes = "a whole number"): bigint {
    const number = this.#engine.number(L, index);
    if (typeof number === "bigint") return number;
    if (number !== undefined && Number.isInteger(number) && Math.abs(number) < 2 ** 63) return BigInt(number);
    throw new TypeError(`hermes.${what} takes ${takes}, not ${describe(this.#engine, L, index)}`);
  }

  /** A number, or for functions a text that the result points to. */
  #result(L: Pointer, what: string): bigint | string {
    const isFunction = this.#event !== undefined && isFunctionEvent(this.#event);
    const text = isFunction ? this.#engine.bytes(L, 1) : undefined;
    const takes = isFunction ? "a whole number or a string" : "a whole number";
    return text ? decodeText(text) : this.#integer(L, 1, what, takes);
  }

  #bytes(L: Pointer, index: number, what: string): Uint8Array {
    const bytes = this.#engine.bytes(L, index);
    if (!bytes) throw new TypeError(`hermes.${what} takes a string, not ${describe(this.#engine, L, index)}`);
    return bytes;
  }

  #milliseconds(L: Pointer, index: number): number {
    const number = Number(this.#engine.number(L, index) ?? Number.NaN);
    if (!(number >= 0 && Number.isFinite(number))) throw new TypeError("hermes.delay takes milliseconds");
    return number;
  }

  #argument(L: Pointer, index: number, what: string): string | number {
    const event = this.#event!;
    const name = this.#engine.text(L, index);
    const counted = () => Number(this.#integer(L, index, what, "an argument by number or name")) - 1;
    if (isFunctionEvent(event)) return name ?? counted();
    const call = syscallByNumber(event.nr);
    const i = name === undefined ? counted() : call?.args.findIndex((a) => a.name === name);
    if (i === undefined || i < 0 || i > 5)
      throw new TypeError(
        `${this.#event!.name} has no argument ${name === undefined ? i! + 1 : `"${name}"`} (known: ${(call?.args ?? []).map((a) => a.name).join(", ")})`,
      );
    return call?.args[i]?.name ?? i;
  }

  #argumentValue(L: Pointer, index: number): bigint | string | Uint8Array {
    const bytes = this.#engine.bytes(L, index);
    // A function's text argument ends with a zero byte.
    if (bytes && this.#event && isFunctionEvent(this.#event)) return decodeText(bytes);
    return bytes ?? this.#integer(L, index, "modify_arg", "a whole number or a string as the new value");
  }

  #target(L: Pointer): string | Address {
    const given = this.#engine.value(L, 1);
    if (typeof given === "string") return given;
    if (typeof given === "object" && given !== null) return addressOf(given as Record<string, unknown>);
    throw new TypeError("hermes.redirect takes a path, an address as text, or a table with host and port");
  }

  #emulate(L: Pointer): Verdict {
    const e = this.#engine;
    const result = e.type(L, 1) === TYPE.nil ? 0n : this.#result(L, "emulate");
    const data = e.bytes(L, 2);
    if (data || e.type(L, 2) === TYPE.nil) return emulate(result, data ?? {}, this.#reason(L, 3));
    const outputs: Record<string, Uint8Array> = {};
    e.each(L, 2, () => {
      const bytes = e.bytes(L, -1);
      if (!bytes) throw new TypeError("hermes.emulate takes out arguments as strings");
      outputs[this.#argument(L, -2, "emulate")] = bytes;
    });
    return emulate(result, { outputs }, this.#reason(L, 3));
  }

  /** Registers by name: their values before or after the instruction. */
  #registers(L: Pointer, what: string): RegisterValues {
    const e = this.#engine;
    const registers: Record<string, bigint> = {};
    if (e.type(L, 1) === TYPE.nil && what === "skip") return registers;
    if (e.type(L, 1) !== TYPE.table)
      throw new TypeError(`hermes.${what} takes a table of registers: { eax = 0 }`);
    e.each(L, 1, () => {
      registers[e.text(L, -2) ?? ""] = this.#integer(L, -1, what);
    });
    return registers;
  }

  #fault(L: Pointer): Verdict {
    const given = this.#engine.value(L, 1);
    if (typeof given !== "object" || given === null || Array.isArray(given))
      throw new TypeError("hermes.fault takes a table: errno, delay, signal, short");
    const injected: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(given)) {
      const check = FAULT_FIELDS[key];
      if (!check) throw new TypeError(`hermes.fault knows errno, delay, signal and short, not "${key}"`);
      injected[key] = check(value);
    }
    if (Object.keys(injected).length === 0)
      throw new TypeError("hermes.fault has no effect: give errno, delay, signal or short");
    return fault(injected as Fault, this.#reason(L, 2));
  }
}

function isFunctionEvent(event: CallEvent | FunctionEvent): event is FunctionEvent {
  return event.kind === "function" || event.kind === "function-return";
}

const WORDS: Readonly<Record<string, () => Verdict>> = {
  ALLOW: () => allow(),
  BLOCK: () => deny(),
  DENY: () => deny(),
  KILL: () => kill(),
  ASK: () => ask("a policy asks"),
};

const FAULT_FIELDS: Readonly<Record<string, (value: unknown) => unknown>> = {
  errno: checkErrno,
  signal: checkSignal,
  delay: (value) => checkCount("delay", value),
  short: (value) => checkCount("short", value),
};

function modifyWith(change: CallChange, reason: string | undefined): Verdict {
  return modify(change, reason);
}

function joinChanges(a: CallChange, b: CallChange): CallChange {
  return { ...a, ...b, ...((a.args || b.args) && { args: { ...a.args, ...b.args } }) };
}

function checkErrno(given: unknown): string | number {
  const number = typeof given === "string" ? errnoNumber(given) : given;
  if (typeof number !== "number" || !Number.isInteger(number) || number < 1 || number > 4095)
    throw new TypeError(`unknown errno ${JSON.stringify(given)}`);
  return given as string | number;
}

function checkSignal(given: unknown): string | number {
  const number = typeof given === "string" ? signalNumber(given) : given;
  if (typeof number !== "number" || !Number.isInteger(number) || number < 1 || number > 64)
    throw new TypeError(`unknown signal ${JSON.stringify(given)}`);
  return given as string | number;
}

function checkCount(name: string, value: unknown): number {
  if (typeof value !== "number" || !(value >= 0))
    throw new TypeError(`hermes.fault: ${name} must be a number, 0 or more`);
  return value;
}

function addressOf({ host, port, path, abstract }: Record<string, unknown>): Address {
  if (typeof path === "string") return { family: "unix", path, ...(abstract === true && { abstract }) };
  const text = typeof host === "string" && host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  const address = parseAddress(text);
  if (!address)
    throw new TypeError(`${text} is not an address: give host (an IP address, not a name) and port, or path`);
  return address;
}

function describe(engine: LuaEngine, L: Pointer, index: number): string {
  const type = engine.type(L, index);
  if (type === TYPE.string) return JSON.stringify(engine.clipped(L, index, 100));
  if (type === TYPE.number) return String(engine.number(L, index));
  return type === TYPE.nil ? "nil" : `a ${engine.typeName(L, index)}`;
}
