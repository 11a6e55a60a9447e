import type { Syscall } from "../../abi/index.js";
import type { Place, Source } from "../../yaml/source.js";
import { deedsOf } from "../deeds.js";
import type { Effect, On } from "../effects.js";
import { type AddressList, type AddressPattern, compileAddress } from "../match/address.js";
import { compileArgv } from "../match/argv.js";
import { checkFlagNames, type FlagNames } from "../match/flags.js";
import { PatternError } from "../match/glob.js";
import { compilePaths, type PathList } from "../match/path.js";
import { parseRate } from "../match/rate.js";
import { compileCode } from "../match/stack.js";
import { compileTime } from "../match/time.js";
import { ACTION_KEYS, type ActionKey } from "./action.js";
import { AnswerError, compileAnswer } from "./answer.js";
import {
  onAddresses,
  onArgv,
  onArgvText,
  onEnv,
  onFd,
  onFlags,
  onPaths,
  onProcess,
  onTime,
  onUser,
  runsProgram,
  unlessMade,
} from "./conditions.js";
import { Occasions, Spending } from "./counters.js";
import {
  checkFunctionKeys,
  type FunctionRule,
  functionPattern,
  functionVerdict,
  onFunctionArguments,
} from "./function-rule.js";
import { addressExpansion } from "./hosts.js";
import { onArguments, type Where, wantedOf } from "./on-arguments.js";
import { onSignal } from "./on-signal.js";
import { onSocket } from "./on-socket.js";
import { onCaller, onCallStack } from "./on-stack.js";
import { onTarget } from "./on-target.js";
import { type Condition, type Counter, type Rule, restricts } from "./rule.js";
import type { RuleSpec } from "./schema.js";
import type { Surroundings } from "./surroundings.js";
import { callsConcerned, isAbout, parseTarget, type Target } from "./target.js";
import type { Variables } from "./variables.js";

/** What the rules of one file are compiled with. */
export interface Compilation {
  readonly source: Source;
  readonly variables: Variables;
  readonly surroundings: Surroundings;
  /** Addresses of the host names that the rules mention. */
  readonly hosts: (name: string) => readonly string[];
  /** Makes a test of a regular expression. */
  readonly pattern: (text: string) => (text: string) => boolean;
}

/** One rule of a file. Everything that is wrong with it is an error with the line where it stands. */
export function compileRule(spec: RuleSpec, place: Place, order: number, compilation: Compilation): Rule {
  return new RuleCompiler(spec, place, compilation).compile(order);
}

/** A rule on functions inside the program: one with the key `call`. */
export function compileFunctionRule(
  spec: RuleSpec,
  place: Place,
  order: number,
  compilation: Compilation,
): FunctionRule {
  return new RuleCompiler(spec, place, compilation).compileFunction(order);
}

/** Keys of a rule that take a text or a list of them. */
type ListKey = "call" | "path" | "address" | "argv" | "user" | "time" | "stack" | "caller";

class RuleCompiler {
  readonly #spec: RuleSpec;
  readonly #place: Place;
  readonly #c: Compilation;
  readonly #key: ActionKey;
  readonly #strict: boolean;

  constructor(spec: RuleSpec, place: Place, compilation: Compilation) {
    this.#spec = spec;
    this.#place = place;
    this.#c = compilation;
    this.#key = this.#action();
    this.#strict = restricts({ key: this.#key });
  }

  compile(order: number): Rule {
    const target = this.#target();
    const { answer, fits } = this.#answer();
    const calls = callsConcerned(target).filter(fits);
    if (calls.length === 0)
      throw this.#error(this.#key, `${target.names.join(", ")} cannot be answered with \`${this.#key}\` so`);
    this.#checkSubjects(target, calls);
    const paths = this.#try("path", (texts) => this.#paths(texts));
    const addresses = this.#try("address", (texts) => this.#addresses(texts));
    const argv = this.#try("argv", compileArgv);
    const conditions = [
      ...(paths ? [onPaths(paths, this.#texts("path"), this.#strict)] : []),
      ...this.#optional("unless_made", (what) => unlessMade(what, paths)),
      ...(addresses ? [onAddresses(addresses, this.#texts("address"), this.#strict)] : []),
      ...(argv ? [onArgv(argv, this.#texts("argv"), this.#strict)] : []),
      ...this.#otherConditions(calls),
    ];
    return {
      order,
      id: this.#spec.id,
      at: this.#c.source.at(this.#place),
      key: this.#key,
      target,
      spec: this.#spec,
      fits,
      conditions,
      counters: this.#counters(),
      counting: JSON.stringify([this.#spec.rate, this.#spec.when]),
      answer,
      paths,
      addresses,
      program: argv?.name,
    };
  }

  compileFunction(order: number): FunctionRule {
    const [key, spec] = [this.#key, this.#spec];
    this.#named(key, () => checkFunctionKeys(key, spec));
    return {
      order,
      id: spec.id,
      at: this.#c.source.at(this.#place),
      key,
      patterns: this.#try("call", (texts) => texts.map(functionPattern))!,
      on: [spec[key]].flat()[0] === "return" ? "function-return" : "function",
      conditions: [
        ...(spec.where ? [onFunctionArguments(this.#where(), this.#strict)] : []),
        ...this.#surroundingConditions(),
      ],
      counters: this.#counters(),
      verdict: this.#named(key, () => functionVerdict(key, spec)),
    };
  }

  // ---------------------------------------------------------------- what it is about

  #action(): ActionKey {
    const given = ACTION_KEYS.filter((key) => this.#spec[key] !== undefined);
    const [key, another] = given;
    if (key && !another) return key;
    const problem = key
      ? `a rule has one action, not ${given.join(" and ")}`
      : `a rule needs an action: one of ${ACTION_KEYS.join(", ")}`;
    throw this.#c.source.error(this.#place, problem);
  }

  #target(): Target {
    const target = this.#named(this.#key, () => parseTarget([this.#spec[this.#key]!].flat()));
    if (["deny", "kill", "ask"].includes(this.#key)) return this.#withAliases(target);
    if (this.#key !== "fault" && this.#key !== "modify") return target;
    // Something that goes wrong with reading a file goes wrong when it is opened, and when it is read.
    const effects = new Set<Effect>(target.effects);
    if (effects.has("read")) effects.add("read_data");
    if (effects.has("write")) effects.add("write_data");
    return { ...target, effects };
  }

  /** A rule that keeps one file from running, or one socket from being reached, holds whatever they are called. */
  #withAliases(target: Target): Target {
    const { path, address, argv, argv_matches, env } = this.#spec;
    const effects = new Set<Effect>(target.effects);
    const isProgram = effects.has("exec") && path !== undefined && !argv && !argv_matches && !env;
    if (isProgram) effects.add("load").add("alias");
    const isSocket =
      effects.has("connect") && [address].flat().some((text) => String(text).startsWith("unix:/"));
    if (isSocket) effects.add("alias");
    return { ...target, effects };
  }

  #answer() {
    try {
      return compileAnswer(this.#key, this.#spec, this.#c.variables);
    } catch (error) {
      throw error instanceof AnswerError ? this.#error(error.key, error.message, error) : error;
    }
  }

  /** A condition on something that the rule's calls do not have would never hold. */
  #checkSubjects(target: Target, calls: readonly Syscall[]): void {
    const has = (kinds: readonly On["kind"][]) =>
      calls.some(({ nr }) =>
        deedsOf(nr).some((deed) => isAbout(target, deed) && kinds.includes(deed.on.kind)),
      );
    const what = target.names.join(", ");
    const takes = (kind: (argument: Syscall["args"][number]) => boolean) =>
      calls.some(({ nr, args }) => target.calls.has(nr) && args.some(kind));
    const isFile = ({ kind }: Syscall["args"][number]) =>
      kind === "path" || kind === "fd" || kind === "dirfd";
    const isAddress = ({ kind }: Syscall["args"][number]) =>
      ["sockaddr", "msghdr", "mmsghdr", "fd"].includes(kind);
    if (
      this.#spec.path !== undefined &&
      !has(["path", "fd", "unknown-file", "socket-file"]) &&
      !takes(isFile)
    )
      throw this.#error("path", `${what} concerns no file`, undefined, true);
    if (this.#spec.address !== undefined && !has(["address", "peer", "local"]) && !takes(isAddress))
      throw this.#error("address", `${what} concerns no address`, undefined, true);
    for (const key of ["argv", "argv_matches", "env"] as const)
      if (this.#spec[key] !== undefined && !calls.some(runsProgram))
        throw this.#error(key, `only exec has a command line: ${what} has none`, undefined, true);
    if (this.#spec.path !== undefined && this.#spec.address !== undefined)
      throw this.#error(
        "address",
        "a rule speaks of files or of addresses: write two rules",
        undefined,
        true,
      );
  }

  #paths(texts: readonly string[]): PathList {
    const permits = this.#key === "allow";
    return compilePaths(texts, (text, isException) => this.#c.variables.paths(text, permits !== isException));
  }

  #addresses(texts: readonly string[]): AddressList {
    const included: AddressPattern[] = [];
    const excepted: AddressPattern[] = [];
    for (const text of texts) {
      const isException = text.startsWith("!");
      const permits = (this.#key === "allow") !== isException;
      for (const value of this.#c.variables.expand(isException ? text.slice(1) : text)) {
        this.#checkWildcardHost(value);
        (isException ? excepted : included).push(
          ...compileAddress(value, addressExpansion(this.#c.hosts, this.#c.variables, permits)),
        );
      }
    }
    return { included, excepted };
  }

  /** To connect to 0.0.0.0 is to connect to this machine, and that is how it is compared. */
  #checkWildcardHost(text: string): void {
    const names = [this.#spec[this.#key]!].flat();
    if (
      /^(0\.0\.0\.0|\[?::\]?)(:\d+)?$/.test(text) &&
      !names.includes("bind") &&
      names.every((n) => n === "connect" || n === "send")
    )
      throw new PatternError(`"${text}" as a destination is this machine: write loopback`);
  }

  // ---------------------------------------------------------------- conditions

  #otherConditions(calls: readonly Syscall[]): Condition[] {
    const { spec, strict } = { spec: this.#spec, strict: this.#strict };
    const found: (Condition | undefined)[] = [
      spec.argv_matches === undefined
        ? undefined
        : this.#named("argv_matches", () =>
            onArgvText(this.#c.pattern(spec.argv_matches!), spec.argv_matches!, strict),
          ),
      spec.env === undefined ? undefined : this.#named("env", () => onEnv(this.#env(), strict)),
      spec.flags === undefined ? undefined : this.#named("flags", () => this.#flags(calls)),
      spec.where === undefined ? undefined : this.#named("where", () => onArguments(this.#where(), calls)),
      this.#socket(calls),
      ...this.#signalConditions(calls),
      spec.fd === undefined ? undefined : this.#named("fd", () => this.#fd()),
      ...this.#surroundingConditions(),
    ];
    return found.filter((condition) => condition !== undefined);
  }

  /** What does not depend on the call: who, when, from where. */
  #surroundingConditions(): Condition[] {
    const { spec, strict } = { spec: this.#spec, strict: this.#strict };
    const found: (Condition | undefined)[] = [
      this.#try("user", (texts) => this.#user(texts)),
      spec.process === undefined ? undefined : this.#named("process", () => this.#process()),
      this.#try("time", (texts) => onTime(texts.map(compileTime), texts)),
      // Following a stack costs most: it is asked for last.
      this.#try("caller", (texts) => onCaller(compileCode(texts), texts, strict)),
      this.#try("stack", (texts) => onCallStack(compileCode(texts), texts, strict)),
    ];
    return found.filter((condition) => condition !== undefined);
  }

  #env(): Readonly<Record<string, string>> | readonly string[] {
    const { env } = this.#spec;
    if (typeof env === "string") return [env];
    if (Array.isArray(env)) return env;
    const names = Object.keys(env!);
    if (names.length === 0) throw new PatternError("`env` is empty");
    return Object.fromEntries(
      names.map((name) => [name, this.#c.source.text([...this.#place, "env", name])]),
    );
  }

  #flags(calls: readonly Syscall[]): Condition {
    const { flags } = this.#spec;
    const names: FlagNames =
      typeof flags === "string" || Array.isArray(flags)
        ? { all: [flags].flat().flatMap((text) => text.split("|")), any: [], none: [] }
        : { all: flags!.all ?? [], any: flags!.any ?? [], none: flags!.none ?? [] };
    if (names.all.length + names.any.length + names.none.length === 0)
      throw new PatternError("`flags` is empty");
    checkFlagNames(calls, names);
    return onFlags(names, calls);
  }

  #where(): Where {
    const where = this.#spec.where!;
    const names = Object.keys(where);
    if (names.length === 0) throw new PatternError("`where` is empty");
    return Object.fromEntries(
      names.map((name) => {
        const texts = (steps: Place, value: unknown) => this.#textsAt(["where", name, ...steps], value);
        return [name, wantedOf(name, where[name], texts)];
      }),
    );
  }

  #socket(calls: readonly Syscall[]): Condition | undefined {
    const { family, type } = this.#spec;
    if (family === undefined && type === undefined) return undefined;
    const texts = (key: "family" | "type") =>
      this.#spec[key] === undefined ? undefined : this.#textsAt([key], this.#spec[key]);
    return this.#named(family === undefined ? "type" : "family", () =>
      onSocket(texts("family"), texts("type"), calls, this.#strict),
    );
  }

  #signalConditions(calls: readonly Syscall[]): (Condition | undefined)[] {
    const { target, signal } = this.#spec;
    const texts = (key: "target" | "signal") => this.#textsAt([key], this.#spec[key]);
    return [
      target === undefined
        ? undefined
        : this.#named("target", () => onTarget(texts("target"), calls, this.#strict)),
      signal === undefined || this.#key === "fault"
        ? undefined
        : this.#named("signal", () => onSignal(texts("signal"), calls, this.#strict)),
    ];
  }

  #fd(): Condition {
    const { fd } = this.#spec;
    if (typeof fd === "number") return onFd([fd], undefined, undefined);
    if (Array.isArray(fd)) return onFd(fd, undefined, undefined);
    if (typeof fd === "string") return onFd(undefined, this.#paths([fd]), undefined);
    const { number, target, kind } = fd!;
    if (number === undefined && target === undefined && kind === undefined)
      throw new PatternError("`fd` is empty");
    const targets = target === undefined ? undefined : this.#paths(this.#textsAt(["fd", "target"], target));
    return onFd(number === undefined ? undefined : [number].flat(), targets, kind);
  }

  #user(texts: readonly string[]): Condition {
    const uid = (text: string): number => {
      const number = /^\d+$/.test(text) ? Number(text) : this.#c.surroundings.uidOf(text);
      if (number === undefined) throw new PatternError(`there is no user "${text}" here: write the number`);
      return number;
    };
    const isException = (text: string) => text.startsWith("!");
    const excepted = texts.filter(isException).map((text) => uid(text.slice(1)));
    return onUser(texts.filter((text) => !isException(text)).map(uid), excepted, texts);
  }

  #process(): Condition {
    const { process } = this.#spec;
    if (typeof process === "string") return onProcess({ exe: this.#paths([process]) }, this.#strict);
    const lists = Object.entries(process!).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, this.#paths(this.#textsAt(["process", name], value))] as const],
    );
    if (lists.length === 0) throw new PatternError("`process` is empty");
    return onProcess(Object.fromEntries(lists), this.#strict);
  }

  #counters(): Counter[] {
    const { rate, when } = this.#spec;
    return [
      ...(rate === undefined
        ? []
        : [this.#named("rate", () => new Spending(parseRate(rate), this.#key === "allow"))]),
      ...(when === undefined ? [] : [this.#when(when)]),
    ];
  }

  #when(when: NonNullable<RuleSpec["when"]>): Counter {
    if (Object.keys(when).length === 0) throw this.#error("when", "`when` is empty");
    if (when.seed !== undefined && when.probability === undefined)
      throw this.#error("when", "a `seed` without a `probability` does nothing");
    const given = Object.entries(when).filter(([, value]) => value !== undefined);
    return new Occasions(Object.fromEntries(given));
  }

  // ---------------------------------------------------------------- texts and errors

  #texts(key: ListKey): string[] {
    return this.#textsAt([key], this.#spec[key]);
  }

  /** As they are written: a number among them stays what the file has. */
  #textsAt(steps: Place, value: unknown): string[] {
    const place = [...this.#place, ...steps];
    return Array.isArray(value)
      ? value.map((_, i) => this.#c.source.text([...place, i]))
      : [this.#c.source.text(place)];
  }

  /** Compiles a list; an error points at the element that is wrong when one can be told. */
  #try<T>(key: ListKey, compile: (texts: readonly string[]) => T): T | undefined {
    const value = this.#spec[key];
    if (value === undefined) return undefined;
    const texts = this.#texts(key);
    try {
      return compile(texts);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      const at =
        texts.length > 1 && key !== "argv" ? texts.findIndex((text) => fails(() => compile([text]))) : -1;
      throw this.#error(key, error.message, error, false, at >= 0 ? [at] : []);
    }
  }

  #optional<K extends "unless_made">(
    key: K,
    compile: (value: NonNullable<RuleSpec[K]>) => Condition,
  ): Condition[] {
    const value = this.#spec[key];
    return value == null ? [] : [this.#named(key, () => compile(value))];
  }

  #named<T>(key: keyof RuleSpec, compile: () => T): T {
    try {
      return compile();
    } catch (error) {
      if (error instanceof AnswerError) throw this.#error(error.key, error.message, error);
      throw error instanceof PatternError ? this.#error(key, error.message, error) : error;
    }
  }

  #error(key: keyof RuleSpec, message: string, cause?: unknown, onKey = false, rest: Place = []) {
    const text = `rule ${this.#spec.id}: ${message}`;
    return this.#c.source.error([...this.#place, key, ...rest], text, { cause, onKey });
  }
}

function fails(act: () => unknown): boolean {
  try {
    act();
    return false;
  } catch {
    return true;
  }
}
