import type { Syscall } from "../../abi/index.js";
import type { YamlPath } from "../../nouns/yaml/source.js";
import { callEffects } from "../call-effects.js";
import type { Effect, On } from "../effects.js";
import { compileArgv } from "../match/argv.js";
import { parseRate } from "../match/rate.js";
import { ACTION_KEYS, type ActionKey } from "./action.js";
import { AnswerError, compileAnswer } from "./answer.js";
import type { Compilation } from "./compilation.js";
import { onAddresses, onArgv, onPaths, runsProgram, unlessMade } from "./conditions.js";
import { Occasions, Spending } from "./counters.js";
import {
  checkFunctionKeys,
  type FunctionRule,
  functionPattern,
  functionVerdict,
  onFunctionArguments,
} from "./function-rule.js";
import { type PolicyRule, type RuleCounter, restricts } from "./rule.js";
import { RuleConditions } from "./rule-conditions.js";
import { RuleReader } from "./rule-reader.js";
import { callsConcerned, isAbout, parseTarget, type RuleTarget } from "./rule-target.js";
import type { RuleSpec } from "./schema.js";

/** Compiles one rule of a file. Every error names its line. */
export function compileRule(
  spec: RuleSpec,
  place: YamlPath,
  order: number,
  compilation: Compilation,
): PolicyRule {
  return new RuleCompiler(spec, place, compilation).compile(order);
}

/** A rule on functions inside the program: one with the key `call`. */
export function compileFunctionRule(
  spec: RuleSpec,
  place: YamlPath,
  order: number,
  compilation: Compilation,
): FunctionRule {
  return new RuleCompiler(spec, place, compilation).compileFunction(order);
}

class RuleCompiler {
  readonly #reader: RuleReader;
  readonly #conditions: RuleConditions;
  readonly #c: Compilation;
  readonly #key: ActionKey;
  readonly #strict: boolean;

  constructor(spec: RuleSpec, place: YamlPath, compilation: Compilation) {
    this.#reader = new RuleReader(spec, place, compilation.source);
    this.#c = compilation;
    this.#key = this.#action();
    this.#conditions = new RuleConditions(this.#reader, compilation, this.#key);
    this.#strict = restricts({ key: this.#key });
  }

  compile(order: number): PolicyRule {
    const target = this.#target();
    const { answer, fits } = this.#answer();
    const calls = callsConcerned(target).filter(fits);
    if (calls.length === 0)
      throw this.#reader.error(
        this.#key,
        `\`${this.#key}\` cannot be used this way on ${target.names.join(", ")}`,
      );
    this.#checkSubjects(target, calls);
    const paths = this.#reader.try("path", (texts) => this.#conditions.paths(texts));
    const addresses = this.#reader.try("address", (texts) => this.#conditions.addresses(texts));
    const argv = this.#reader.try("argv", compileArgv);
    const { unless_made: made } = this.#reader.spec;
    const conditions = [
      ...(paths ? [onPaths(paths, this.#reader.texts("path"), this.#strict)] : []),
      ...(made === undefined ? [] : [this.#reader.named("unless_made", () => unlessMade(made, paths))]),
      ...(addresses ? [onAddresses(addresses, this.#reader.texts("address"), this.#strict)] : []),
      ...(argv ? [onArgv(argv, this.#reader.texts("argv"), this.#strict)] : []),
      ...this.#conditions.all(calls),
    ];
    return {
      order,
      id: this.#reader.spec.id,
      at: this.#reader.source.at(this.#reader.place),
      key: this.#key,
      target,
      spec: this.#reader.spec,
      fits,
      conditions,
      counters: this.#counters(),
      counting: JSON.stringify([this.#reader.spec.rate, this.#reader.spec.when]),
      answer,
      paths,
      addresses,
      program: argv?.name,
    };
  }

  compileFunction(order: number): FunctionRule {
    const [key, spec] = [this.#key, this.#reader.spec];
    this.#reader.named(key, () => checkFunctionKeys(key, spec));
    return {
      order,
      id: spec.id,
      at: this.#reader.source.at(this.#reader.place),
      key,
      patterns: this.#reader.try("call", (texts) => texts.map(functionPattern))!,
      on: [spec[key]].flat()[0] === "return" ? "function-return" : "function",
      conditions: [
        ...(spec.where ? [onFunctionArguments(this.#conditions.where(), this.#strict)] : []),
        ...this.#conditions.surrounding(),
      ],
      counters: this.#counters(),
      verdict: this.#reader.named(key, () => functionVerdict(key, spec)),
    };
  }

  // ---------------------------------------------------------------- the rule's target

  #action(): ActionKey {
    const given = ACTION_KEYS.filter((key) => this.#reader.spec[key] !== undefined);
    const [key, another] = given;
    if (key && !another) return key;
    const problem = key
      ? `a rule has one action, not ${given.join(" and ")}`
      : `a rule needs an action: one of ${ACTION_KEYS.join(", ")}`;
    throw this.#reader.source.error(this.#reader.place, problem);
  }

  #target(): RuleTarget {
    const target = this.#reader.named(this.#key, () => parseTarget([this.#reader.spec[this.#key]!].flat()));
    if (["deny", "kill", "ask"].includes(this.#key)) return this.#withAliases(target);
    if (this.#key !== "fault" && this.#key !== "modify") return target;
    // A fault rule on reading a file applies when the file is opened, and when it is read.
    const effects = new Set<Effect>(target.effects);
    if (effects.has("read")) effects.add("read_data");
    if (effects.has("write")) effects.add("write_data");
    return { ...target, effects };
  }

  /** A rule that forbids to run a file, or to reach a socket, also holds under their other names. */
  #withAliases(target: RuleTarget): RuleTarget {
    const { path, address, argv, argv_matches, env } = this.#reader.spec;
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
      return compileAnswer(this.#key, this.#reader.spec, this.#c.variables);
    } catch (error) {
      throw error instanceof AnswerError ? this.#reader.error(error.key, error.message, error) : error;
    }
  }

  /** A condition on something that the rule's calls lack would never hold. */
  #checkSubjects(target: RuleTarget, calls: readonly Syscall[]): void {
    const has = (kinds: readonly On["kind"][]) =>
      calls.some(({ nr }) =>
        callEffects(nr).some((effect) => isAbout(target, effect) && kinds.includes(effect.on.kind)),
      );
    const what = target.names.join(", ");
    const takes = (kind: (argument: Syscall["args"][number]) => boolean) =>
      calls.some(({ nr, args }) => target.calls.has(nr) && args.some(kind));
    const isFile = ({ kind }: Syscall["args"][number]) =>
      kind === "path" || kind === "fd" || kind === "dirfd";
    const isAddress = ({ kind }: Syscall["args"][number]) =>
      ["sockaddr", "msghdr", "mmsghdr", "fd"].includes(kind);
    if (
      this.#reader.spec.path !== undefined &&
      !has(["path", "fd", "unknown-file", "socket-file"]) &&
      !takes(isFile)
    )
      throw this.#reader.error("path", `\`path\` cannot be used here: ${what} has no file`, undefined, true);
    if (this.#reader.spec.address !== undefined && !has(["address", "peer", "local"]) && !takes(isAddress))
      throw this.#reader.error(
        "address",
        `\`address\` cannot be used here: ${what} has no address`,
        undefined,
        true,
      );
    for (const key of ["argv", "argv_matches", "env"] as const)
      if (this.#reader.spec[key] !== undefined && !calls.some(runsProgram))
        throw this.#reader.error(key, `only exec has a command line: ${what} has none`, undefined, true);
    if (this.#reader.spec.path !== undefined && this.#reader.spec.address !== undefined)
      throw this.#reader.error(
        "address",
        "a rule is about files or about addresses: write two rules",
        undefined,
        true,
      );
  }

  #counters(): RuleCounter[] {
    const { rate, when } = this.#reader.spec;
    return [
      ...(rate === undefined
        ? []
        : [this.#reader.named("rate", () => new Spending(parseRate(rate), this.#key === "allow"))]),
      ...(when === undefined ? [] : [this.#when(when)]),
    ];
  }

  #when(when: NonNullable<RuleSpec["when"]>): RuleCounter {
    if (Object.keys(when).length === 0) throw this.#reader.error("when", "`when` is empty");
    if (when.seed !== undefined && when.probability === undefined)
      throw this.#reader.error("when", "a `seed` has no effect without a `probability`");
    const given = Object.entries(when).filter(([, value]) => value !== undefined);
    return new Occasions(Object.fromEntries(given));
  }
}
