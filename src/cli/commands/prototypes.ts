import { Elf } from "../../binary/elf/index.js";
import { DwarfPrototypes, type Prototype, Prototypes } from "../../binary/prototypes/index.js";
import { KNOWN_LIBRARIES } from "../../binary/prototypes/shipped.js";
import { declarationText } from "../../binary/prototypes/write.js";
import { HermesError } from "../../nouns/errors.js";
import { wildcards } from "../../nouns/glob.js";
import { escapeControl } from "../../nouns/text.js";
import { usageError } from "../options/values.js";
import { print, say } from "../views/output.js";

interface Flags {
  from?: string;
  prototypes?: string[];
  json?: boolean;
}

interface Listed {
  readonly module: string;
  readonly prototype: Prototype;
  readonly name: string;
}

/** `hermes prototypes`: shows known prototypes, and checks a prototype file. */
export async function prototypesCommand(patterns: string[], flags: Flags): Promise<number> {
  const prototypes = new Prototypes(flags.prototypes);
  const listed = flags.from === undefined ? known(prototypes, patterns) : fromFile(flags.from, patterns);
  if (flags.json)
    for (const { module, name, prototype } of listed)
      print(`${JSON.stringify(described(module, name, prototype))}\n`);
  else printText(listed);
  if (listed.length > 0) return 0;
  if (!flags.json) say("hermes: no known prototype matches\n");
  return 1;
}

function known(prototypes: Prototypes, patterns: readonly string[]): Listed[] {
  const asked = patterns.length > 0 ? patterns : ["*!*"];
  return asked.flatMap((pattern) => {
    const { module, symbol } = halves(pattern);
    const libraries = [
      ...new Set([...KNOWN_LIBRARIES, ...(/[*?]/.test(module) ? prototypes.modules() : [module])]),
    ];
    return libraries.filter(wildcards(module)).flatMap((library) =>
      prototypes
        .names(library)
        .filter(wildcards(symbol))
        .map((name) => ({ module: library, name, prototype: prototypes.of(library, name)! })),
    );
  });
}

function fromFile(file: string, patterns: readonly string[]): Listed[] {
  const elf = Elf.open(file);
  const found = DwarfPrototypes.of(elf);
  if (!found)
    throw new HermesError("PROTOTYPES", {
      file,
      message: "it has no debug information, and no separate debug file was found",
    });
  const globs = patterns.map((pattern) =>
    wildcards(pattern.includes("!") ? halves(pattern).symbol : pattern),
  );
  const listed = found
    .names()
    .filter((name) => globs.length === 0 || globs.some((matches) => matches(name)))
    .sort()
    .flatMap((name) => {
      const prototype = found.of(name);
      return prototype ? [{ module: "app", name, prototype }] : [];
    });
  if (found.problem !== undefined)
    say(`hermes: ${file}: its debug information could not be read completely: ${found.problem}\n`);
  elf.close();
  return listed;
}

function halves(pattern: string): { module: string; symbol: string } {
  const at = pattern.indexOf("!");
  if (at === 0 || at === pattern.length - 1)
    throw usageError(`"${pattern}" is not a pattern module!function such as libc!get*`);
  return at < 0
    ? { module: "*", symbol: pattern }
    : { module: pattern.slice(0, at), symbol: pattern.slice(at + 1) };
}

/** In the syntax of prototype files. */
function printText(listed: readonly Listed[]): void {
  let before: string | undefined;
  for (const { module, name, prototype } of listed) {
    if (module !== before) print(`library ${escapeControl(module)};\n`);
    before = module;
    const text = name === prototype.name ? declarationText(prototype) : `alias ${name} = ${prototype.name};`;
    print(`${escapeControl(text)}\n`);
  }
}

function described(
  module: string,
  name: string,
  { declaration, parameters, result, fails, isVariadic }: Prototype,
) {
  return {
    module,
    name,
    declaration,
    parameters: parameters.map((parameter) => ({
      name: parameter.name,
      direction: parameter.direction,
      type: parameter.type.kind,
    })),
    result: result.type.kind,
    variadic: isVariadic,
    ...(fails && { fails: { when: fails.when, value: fails.value, errno: fails.errno } }),
  };
}
