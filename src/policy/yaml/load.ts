import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import type { Allowance } from "../../nouns/allowance.js";
import { HermesError } from "../../nouns/errors.js";
import { type YamlPath, YamlSource } from "../../nouns/yaml/source.js";
import type { LoadOptions } from "../load.js";
import { PatternError } from "../match/glob.js";
import type { PolicyFence } from "../policy.js";
import { isPolicyName, shippedPolicy } from "../shipped.js";
import { allowanceRules } from "./allowance-rule.js";
import type { Compilation } from "./compilation.js";
import { compileFunctionRule, compileRule } from "./compile.js";
import { type ExampleSpec, exampleEvent, whyNotExample } from "./example.js";
import { compileFence } from "./fence.js";
import type { FunctionRule } from "./function-rule.js";
import { hostsIn } from "./hosts.js";
import { compileInstructionRule, type InstructionRule, isAboutInstructions } from "./instruction-rule.js";
import { whyNotInstruction } from "./instruction-rules.js";
import { EXAMPLE_CONTEXT, hostContext, type LoadContext } from "./load-context.js";
import { type PrecompiledPolicy, precompiledPolicy } from "./precompiled.js";
import { knownRegularExpression, regularExpression } from "./regular-expression.js";
import type { PolicyRule } from "./rule.js";
import type { PolicyFile, RuleSpec } from "./schema.js";
import { Variables } from "./variables.js";
import { type Default, YamlPolicy } from "./yaml-policy.js";

export type {} from "./explain.js";
export type { LoadContext } from "./load-context.js";
export { YamlPolicy } from "./yaml-policy.js";

const MAX_FILES = 100;

/** One file of a policy, with the context for its rules. */
interface LoadedFile {
  readonly source: YamlSource;
  readonly content: PolicyFile;
  readonly variables: Variables;
  /** The same in the environment of the examples. */
  readonly exampleVariables: Variables;
  /** The build loaded it with all checks … */
  readonly isKnown: boolean;
  /** … and so it did with every file that leads to it … */
  readonly chainIsKnown: boolean;
  /** … or its examples use no variable from outside. */
  readonly examplesHold: boolean;
}

/** The loader's signature for all languages. Counters continue when a policy is reloaded. */
export function loadYamlPolicy(
  path: string,
  _: string,
  { previous, cwd, workspace, allowances }: LoadOptions,
): Promise<YamlPolicy> {
  return loadYaml(
    path,
    { ...(cwd !== undefined && { cwd: resolve(cwd) }), ...(workspace !== undefined && { workspace }) },
    previous instanceof YamlPolicy ? previous.rules : [],
    {},
    allowances,
  );
}

/**
 * Loads a YAML policy with all its includes. Host and user names are resolved here, once. `variables`
 * override those of the file; `allowances` that name this policy come before all its rules.
 */
export async function loadYaml(
  path: string,
  given: Partial<LoadContext> = {},
  previous: readonly PolicyRule[] = [],
  variables: OwnVariables = {},
  allowances: readonly Allowance[] = [],
): Promise<YamlPolicy> {
  const surroundings = hostContext(given);
  const files = new FileLoader(surroundings, variables);
  const top = await files.load(path, resolve(path), {}, []);
  const lifting = allowances.filter(({ policies }) => policies.includes(top.file.content.name));
  if (lifting.length > 0) await files.allow(lifting);
  const ordered = files.inOrder;
  const { rules, functions, instructions } = await compileAll(ordered, surroundings);
  if (
    rules.length + functions.length + instructions.length === 0 &&
    top.default === "allow" &&
    Object.keys(top.fence).length === 0
  )
    throw top.file.source.error([], "it has no rules, and its default is allow: it has no effect");
  const { name, description } = top.file.content;
  return new YamlPolicy({
    name,
    version: files.version,
    files: files.names,
    file: resolve(path),
    ...(description !== undefined && { description }),
    requires: [...new Set(ordered.flatMap(({ content }) => content.requires ?? []))],
    fallback: top.default,
    ...(Object.keys(top.fence).length > 0 && { fence: top.fence }),
    usesWorkspace: ordered.some(({ variables }) => variables.usesWorkspace),
    rules: withCounters(rules, previous),
    functions,
    instructions,
  });
}

/** A reload must not restart counts, or reset a budget. */
function withCounters(rules: readonly PolicyRule[], previous: readonly PolicyRule[]): readonly PolicyRule[] {
  const known = new Map(previous.map((rule) => [`${rule.id} ${rule.counting}`, rule]));
  return rules.map((rule) => ({
    ...rule,
    counters: known.get(`${rule.id} ${rule.counting}`)?.counters ?? rule.counters,
  }));
}

type OwnVariables = Readonly<Record<string, readonly string[]>>;

class FileLoader {
  /** In the order in which their rules are tried. */
  readonly inOrder: LoadedFile[] = [];
  readonly #surroundings: LoadContext;
  /** Every file that was read, absolute. */
  readonly names: string[] = [];
  readonly #hash = createHash("sha256");
  #count = 0;
  /** The caller's variables; examples use the file's own. */
  readonly #given: OwnVariables;

  constructor(surroundings: LoadContext, given: OwnVariables) {
    this.#surroundings = surroundings;
    this.#given = given;
  }

  get version(): string {
    return this.#hash.digest("hex").slice(0, 12);
  }

  /** `given` are variables of the including file: they override its own. */
  async load(
    name: string,
    file: string,
    given: OwnVariables,
    above: readonly string[],
    chainAboveIsKnown = true,
  ): Promise<{ file: LoadedFile; default: Default; fence: PolicyFence }> {
    this.names.push(file);
    const { text, source, content, isKnown } = await this.#read(name, file);
    const own = { ...ownVariables(source, content), ...given };
    const set = { ...own, ...this.#given };
    const variables = new Variables(this.#surroundings, this.#surroundings.realpath(dirname(file)), set);
    const exampleVariables = new Variables(EXAMPLE_CONTEXT, dirname(file), own);
    const isItself = !Object.keys(given).some((variable) => text.includes(`\${${variable}}`));
    const chainIsKnown = isKnown && chainAboveIsKnown;
    const checks = { isKnown, chainIsKnown, examplesHold: chainIsKnown || (isKnown && isItself) };
    const loaded: LoadedFile = { source, content, variables, exampleVariables, ...checks };
    const chain = [...above, file];
    const includes = content.include === undefined ? [] : [content.include].flat().map(String);
    for (const [i, include] of includes.entries()) {
      const place: YamlPath = Array.isArray(content.include) ? ["include", i] : ["include"];
      const inner = await this.#follow(loaded, name, file, include, place, own, chain);
      const lost =
        inner.default !== "allow"
          ? `\`default: ${inner.default}\``
          : Object.keys(inner.fence).length > 0 && "a fence";
      if (lost) throw source.error(place, `${include} has ${lost}, which an include would lose: use extends`);
    }
    this.inOrder.push(loaded);
    const fence = content.fence ? compileFence(content.fence, source, variables) : {};
    if (content.extends === undefined) return { file: loaded, default: content.default ?? "allow", fence };
    const base = await this.#follow(loaded, name, file, content.extends, ["extends"], own, chain);
    return { file: loaded, default: content.default ?? base.default, fence: { ...base.fence, ...fence } };
  }

  /** Rules before all others. They count for the version. */
  async allow(allowances: readonly Allowance[]): Promise<void> {
    const bytes = Buffer.from(JSON.stringify({ name: "allowed", rules: allowances.flatMap(allowanceRules) }));
    this.#hash.update(bytes);
    const { source, content } = await readText("hermes.yaml", bytes);
    const variables = new Variables(this.#surroundings, "/", {});
    const checks = { isKnown: false, chainIsKnown: false, examplesHold: true };
    this.inOrder.unshift({ source, content, variables, exampleVariables: variables, ...checks });
  }

  #follow(
    { source, chainIsKnown }: LoadedFile,
    name: string,
    file: string,
    include: string,
    place: YamlPath,
    given: OwnVariables,
    chain: readonly string[],
  ) {
    const shipped = isPolicyName(include);
    const target = shipped ? shippedPolicy(include) : resolve(dirname(file), include);
    if (target === undefined) throw source.error(place, `cannot find a policy named ${include}`);
    if (![".yaml", ".yml"].includes(extname(target)))
      throw source.error(
        place,
        `"${include}" is not a YAML policy: add policies in other languages with --policy`,
      );
    if (chain.includes(target)) throw source.error(place, `${include} includes itself`);
    if (++this.#count > MAX_FILES) throw source.error(place, `more than ${MAX_FILES} files are included`);
    if (!existsSync(target)) throw source.error(place, `cannot find ${target}`);
    const inner = shipped ? basename(target) : join(dirname(name), include);
    return this.load(inner, target, given, chain, chainIsKnown);
  }

  async #read(name: string, file: string): Promise<ReadFile> {
    let bytes: Buffer;
    try {
      bytes = readFileSync(file);
    } catch (cause) {
      const errno = (cause as NodeJS.ErrnoException).code ?? "?";
      throw new HermesError("POLICY_NOT_FOUND", { file: name, errno }, { cause });
    }
    this.#hash.update(bytes).update("\0");
    return readText(name, bytes);
  }
}

interface ReadFile {
  readonly text: string;
  readonly source: YamlSource;
  readonly content: PolicyFile;
  readonly isKnown: boolean;
}

async function readText(name: string, bytes: Buffer): Promise<ReadFile> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new HermesError("POLICY_SYNTAX", { file: name, message: "it is not UTF-8" }, { cause });
  }
  const known = precompiledPolicy(digestOf(bytes));
  if (known)
    return { text, source: new YamlSource(name, text, known.root), content: known.content, isKnown: true };
  const { readPolicy } = await import("./read.js");
  return { text, ...readPolicy(name, text), isKnown: false };
}

function digestOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** For scripts/policies.mjs: loads a policy with all checks, and returns the facts about its own file. */
export async function precompile(file: string): Promise<readonly [digest: string, PrecompiledPolicy]> {
  await loadYaml(file);
  const bytes = readFileSync(file);
  const { source, content } = await readText(file, bytes);
  return [digestOf(bytes), { root: source.root!, content }];
}

function ownVariables(source: YamlSource, { variables = {} }: PolicyFile): OwnVariables {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => {
      if (!/^[A-Za-z_]\w*$/.test(name))
        throw source.error(["variables", name], `"${name}" is not a valid variable name`);
      const place = ["variables", name];
      const texts = Array.isArray(value)
        ? value.map((_, i) => source.text([...place, i]))
        : [source.text(place)];
      return [name, texts];
    }),
  );
}

// ---------------------------------------------------------------- rules

interface CompiledRules {
  readonly rules: readonly PolicyRule[];
  readonly functions: readonly FunctionRule[];
  readonly instructions: readonly InstructionRule[];
}

async function compileAll(files: readonly LoadedFile[], surroundings: LoadContext): Promise<CompiledRules> {
  const rules: PolicyRule[] = [];
  const functions: FunctionRule[] = [];
  const instructions: InstructionRule[] = [];
  const ids = new Map<string, string>();
  const take = ({ id, at }: { id: string; at: string }, place: YamlPath, { source }: LoadedFile) => {
    const known = ids.get(id);
    if (known !== undefined)
      throw source.error([...place, "id"], `the id ${id} is already used by the rule at ${known}`);
    ids.set(id, at);
  };
  for (const file of files) {
    const hosts = await lookUpHosts(file, surroundings);
    const pattern = file.isKnown ? knownRegularExpression : regularExpression;
    const compilation: Compilation = { ...file, surroundings, hosts, pattern };
    for (const [i, spec] of (file.content.rules ?? []).entries()) {
      const place: YamlPath = ["rules", i];
      if (spec.call !== undefined) {
        const rule = compileFunctionRule(spec, place, functions.length, compilation);
        take(rule, place, file);
        functions.push(rule);
        continue;
      }
      if (isAboutInstructions(spec)) {
        const rule = compileInstructionRule(spec, place, compilation);
        take(rule, place, file);
        if (!file.examplesHold) checkInstructionExamples(rule, place, file);
        instructions.push(rule);
        continue;
      }
      const rule = compileRule(spec, place, rules.length, compilation);
      take(rule, place, file);
      if (spec.examples && !file.examplesHold) {
        const made = { ...compilation, variables: file.exampleVariables, surroundings: EXAMPLE_CONTEXT };
        checkExamples(compileRule(spec, place, rules.length, made), spec, place, file);
      }
      rules.push(rule);
    }
  }
  return { rules, functions, instructions };
}

function checkInstructionExamples(rule: InstructionRule, place: YamlPath, { source }: LoadedFile): void {
  for (const kind of ["match", "not_match"] as const)
    for (const [i, example] of (rule.spec.examples?.[kind] ?? []).entries()) {
      const at: YamlPath = [...place, "examples", kind, i];
      let why: string | undefined;
      try {
        why = whyNotInstruction(rule, example);
      } catch (error) {
        throw source.error(at, `rule ${rule.id}: ${(error as Error).message}`);
      }
      if (kind === "match" && why !== undefined)
        throw source.error(at, `rule ${rule.id} does not match its example: ${why}`);
      if (kind === "not_match" && why === undefined)
        throw source.error(at, `rule ${rule.id} matches an example that it must not match`);
    }
}

async function lookUpHosts({ content, source, variables }: LoadedFile, { lookUp }: LoadContext) {
  const found = new Map<string, readonly string[]>();
  for (const [i, rule] of (content.rules ?? []).entries()) {
    if (rule.address === undefined) continue;
    for (const host of hostsIn([rule.address].flat().map(String), variables)) {
      if (found.has(host)) continue;
      const fail = (why: string, cause?: unknown) =>
        source.error(["rules", i, "address"], `rule ${rule.id}: cannot look up the host ${host}: ${why}`, {
          cause,
        });
      const addresses = await lookUp(host).catch((cause: Error) => {
        throw fail((cause as NodeJS.ErrnoException).code ?? cause.message, cause);
      });
      if (addresses.length === 0) throw fail("it has no address");
      found.set(host, addresses);
    }
  }
  return (host: string) => found.get(host) ?? [];
}

function checkExamples(
  rule: PolicyRule,
  spec: RuleSpec,
  place: YamlPath,
  { source, exampleVariables: variables }: LoadedFile,
): void {
  for (const kind of ["match", "not_match"] as const) {
    for (const [i, example] of (spec.examples?.[kind] ?? []).entries()) {
      const at: YamlPath = [...place, "examples", kind, i];
      const why = reasonAgainst(rule, example, variables, (message) =>
        source.error(at, `rule ${rule.id}: ${message}`),
      );
      if (kind === "match" && why !== undefined)
        throw source.error(at, `rule ${rule.id} does not match its example: ${why}`);
      if (kind === "not_match" && why === undefined)
        throw source.error(at, `rule ${rule.id} matches an example that it must not match`);
    }
  }
}

function reasonAgainst(
  rule: PolicyRule,
  example: ExampleSpec,
  variables: Variables,
  fail: (message: string) => HermesError,
): string | undefined {
  try {
    return whyNotExample(rule, exampleEvent(example, variables), example.at !== undefined);
  } catch (error) {
    throw error instanceof PatternError ? fail(error.message) : error;
  }
}
