import type { Syscall } from "../../abi/index.js";
import type { YamlPath } from "../../nouns/yaml/source.js";
import { type AddressList, type AddressPattern, compileAddress } from "../match/address.js";
import { checkFlagNames, type FlagNames } from "../match/flags.js";
import { PatternError } from "../match/glob.js";
import { compilePaths, type PathList } from "../match/path.js";
import { compileCode } from "../match/stack.js";
import { compileTime } from "../match/time.js";
import type { ActionKey } from "./action.js";
import type { Compilation } from "./compilation.js";
import { onArgvText, onEnv, onFd, onFlags, onProcess, onTime, onUser } from "./conditions.js";
import { addressExpansion } from "./hosts.js";
import { onArguments, type WantedArguments, wantedOf } from "./on-arguments.js";
import { onSignal } from "./on-signal.js";
import { onSocket } from "./on-socket.js";
import { onCaller, onCallStack } from "./on-stack.js";
import { onTarget } from "./on-target.js";
import { type RuleCondition, restricts } from "./rule.js";
import type { RuleReader } from "./rule-reader.js";

/** Compiles the conditions of a rule from its keys. */
export class RuleConditions {
  readonly #reader: RuleReader;
  readonly #c: Compilation;
  readonly #key: ActionKey;
  readonly #strict: boolean;

  constructor(reader: RuleReader, compilation: Compilation, key: ActionKey) {
    this.#reader = reader;
    this.#c = compilation;
    this.#key = key;
    this.#strict = restricts({ key });
  }

  /** All but those on paths, addresses and command lines, which a rule stores separately. */
  all(calls: readonly Syscall[]): RuleCondition[] {
    const { spec, strict } = { spec: this.#reader.spec, strict: this.#strict };
    const found: (RuleCondition | undefined)[] = [
      spec.argv_matches === undefined
        ? undefined
        : this.#reader.named("argv_matches", () =>
            onArgvText(this.#c.pattern(spec.argv_matches!), spec.argv_matches!, strict),
          ),
      spec.env === undefined ? undefined : this.#reader.named("env", () => onEnv(this.#env(), strict)),
      spec.flags === undefined ? undefined : this.#reader.named("flags", () => this.#flags(calls)),
      spec.where === undefined
        ? undefined
        : this.#reader.named("where", () => onArguments(this.where(), calls)),
      this.#socket(calls),
      ...this.#signalConditions(calls),
      spec.fd === undefined ? undefined : this.#reader.named("fd", () => this.#fd()),
      ...this.surrounding(),
    ];
    return found.filter((condition) => condition !== undefined);
  }

  /** Conditions that do not depend on the call: user, time, program. */
  surrounding(): RuleCondition[] {
    const { spec, strict } = { spec: this.#reader.spec, strict: this.#strict };
    const found: (RuleCondition | undefined)[] = [
      this.#reader.try("user", (texts) => this.#user(texts)),
      spec.process === undefined ? undefined : this.#reader.named("process", () => this.#process()),
      this.#reader.try("time", (texts) => onTime(texts.map(compileTime), texts)),
      // Unwinding a stack costs most, so it comes last.
      this.#reader.try("caller", (texts) => onCaller(compileCode(texts), texts, strict)),
      this.#reader.try("stack", (texts) => onCallStack(compileCode(texts), texts, strict)),
    ];
    return found.filter((condition) => condition !== undefined);
  }

  #env(): Readonly<Record<string, string>> | readonly string[] {
    const { env } = this.#reader.spec;
    if (typeof env === "string") return [env];
    if (Array.isArray(env)) return env;
    const names = Object.keys(env!);
    if (names.length === 0) throw new PatternError("`env` is empty");
    return Object.fromEntries(
      names.map((name) => [name, this.#reader.source.text([...this.#reader.place, "env", name])]),
    );
  }

  #flags(calls: readonly Syscall[]): RuleCondition {
    const { flags } = this.#reader.spec;
    const names: FlagNames =
      typeof flags === "string" || Array.isArray(flags)
        ? { all: [flags].flat().flatMap((text) => text.split("|")), any: [], none: [] }
        : { all: flags!.all ?? [], any: flags!.any ?? [], none: flags!.none ?? [] };
    if (names.all.length + names.any.length + names.none.length === 0)
      throw new PatternError("`flags` is empty");
    checkFlagNames(calls, names);
    return onFlags(names, calls);
  }

  where(): WantedArguments {
    const where = this.#reader.spec.where!;
    const names = Object.keys(where);
    if (names.length === 0) throw new PatternError("`where` is empty");
    return Object.fromEntries(
      names.map((name) => {
        const texts = (steps: YamlPath, value: unknown) =>
          this.#reader.textsAt(["where", name, ...steps], value);
        return [name, wantedOf(name, where[name], texts)];
      }),
    );
  }

  #socket(calls: readonly Syscall[]): RuleCondition | undefined {
    const { family, type } = this.#reader.spec;
    if (family === undefined && type === undefined) return undefined;
    const texts = (key: "family" | "type") =>
      this.#reader.spec[key] === undefined ? undefined : this.#reader.textsAt([key], this.#reader.spec[key]);
    return this.#reader.named(family === undefined ? "type" : "family", () =>
      onSocket(texts("family"), texts("type"), calls, this.#strict),
    );
  }

  #signalConditions(calls: readonly Syscall[]): (RuleCondition | undefined)[] {
    const { target, signal } = this.#reader.spec;
    const texts = (key: "target" | "signal") => this.#reader.textsAt([key], this.#reader.spec[key]);
    return [
      target === undefined
        ? undefined
        : this.#reader.named("target", () => onTarget(texts("target"), calls, this.#strict)),
      signal === undefined || this.#key === "fault"
        ? undefined
        : this.#reader.named("signal", () => onSignal(texts("signal"), calls, this.#strict)),
    ];
  }

  #fd(): RuleCondition {
    const { fd } = this.#reader.spec;
    if (typeof fd === "number") return onFd([fd], undefined, undefined);
    if (Array.isArray(fd)) return onFd(fd, undefined, undefined);
    if (typeof fd === "string") return onFd(undefined, this.paths([fd]), undefined);
    const { number, target, kind } = fd!;
    if (number === undefined && target === undefined && kind === undefined)
      throw new PatternError("`fd` is empty");
    const targets =
      target === undefined ? undefined : this.paths(this.#reader.textsAt(["fd", "target"], target));
    return onFd(number === undefined ? undefined : [number].flat(), targets, kind);
  }

  #user(texts: readonly string[]): RuleCondition {
    const uid = (text: string): number => {
      const number = /^\d+$/.test(text) ? Number(text) : this.#c.surroundings.uidOf(text);
      if (number === undefined)
        throw new PatternError(`there is no user "${text}" on this machine: write the uid`);
      return number;
    };
    const isException = (text: string) => text.startsWith("!");
    const excepted = texts.filter(isException).map((text) => uid(text.slice(1)));
    return onUser(texts.filter((text) => !isException(text)).map(uid), excepted, texts);
  }

  #process(): RuleCondition {
    const { process } = this.#reader.spec;
    if (typeof process === "string") return onProcess({ exe: this.paths([process]) }, this.#strict);
    const { depth, ...patterns } = process!;
    const lists = Object.entries(patterns).flatMap(([name, value]) =>
      value === undefined
        ? []
        : [[name, this.paths(this.#reader.textsAt(["process", name], value))] as const],
    );
    if (lists.length === 0 && depth === undefined) throw new PatternError("`process` is empty");
    const at = depth === undefined ? {} : { depth: [depth].flat() };
    return onProcess({ ...Object.fromEntries(lists), ...at }, this.#strict);
  }

  paths(texts: readonly string[]): PathList {
    const permits = this.#key === "allow";
    return compilePaths(texts, (text, isException) => this.#c.variables.paths(text, permits !== isException));
  }

  addresses(texts: readonly string[]): AddressList {
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

  /** Connecting to 0.0.0.0 connects to this machine, and is compared as such. */
  #checkWildcardHost(text: string): void {
    const names = [this.#reader.spec[this.#key]!].flat();
    if (
      /^(0\.0\.0\.0|\[?::\]?)(:\d+)?$/.test(text) &&
      !names.includes("bind") &&
      names.every((n) => n === "connect" || n === "send")
    )
      throw new PatternError(`"${text}" as a destination is this machine: write loopback`);
  }
}
