import type { Word } from "./script.js";

export interface CommandOption {
  /** With its dashes: `-f`, `--force`. A cluster `-rf` is two options. */
  readonly name: string;
  readonly value: Word | undefined;
  readonly word: Word;
}

export interface CommandArguments {
  readonly options: readonly CommandOption[];
  readonly operands: readonly Word[];
}

const NO_VALUES: ReadonlySet<string> = new Set();

/** A table of options that take a value, as one string per program: `{ nice: "-n --adjustment" }`. */
export function optionTable(
  rows: Readonly<Record<string, string>>,
): (program: string) => ReadonlySet<string> {
  const table = new Map<string, ReadonlySet<string>>();
  for (const [names, options] of Object.entries(rows))
    for (const name of names.split(" ")) table.set(name, new Set(options.split(" ")));
  return (program) => table.get(program) ?? NO_VALUES;
}

/**
 * Reads options and operands in the usual style. With `leading`, options end at the first operand, as in programs
 * that run another program.
 */
export function readArguments(
  words: readonly Word[],
  values: ReadonlySet<string> = NO_VALUES,
  leading = false,
): CommandArguments {
  const options: CommandOption[] = [];
  const operands: Word[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    const { text } = word;
    if (text.length < 2 || text[0] !== "-") {
      if (leading) return { options, operands: words.slice(i) };
      operands.push(word);
    } else if (text === "--") {
      options.push({ name: "--", value: undefined, word });
      operands.push(...words.slice(i + 1));
      break;
    } else i += readOption(word, words[i + 1], values, options);
  }
  return { options, operands };
}

/** `-STOP` of kill is a signal's name, not a cluster of letters. */
const SIGNAL = /^-(SIG)?(HUP|INT|QUIT|KILL|TERM|STOP|CONT|USR1|USR2|TSTP|ABRT|ALRM|SEGV)$/;

/** Appends the options in one word; returns how many of the following words are their values. */
function readOption(
  word: Word,
  next: Word | undefined,
  values: ReadonlySet<string>,
  options: CommandOption[],
): number {
  const { text } = word;
  const equals = text.indexOf("=");
  if (equals > 1 && isNamed(text.slice(0, equals), values)) {
    options.push({ name: text.slice(0, equals), value: { ...word, text: text.slice(equals + 1) }, word });
    return 0;
  }
  if (values.has(text)) {
    options.push({ name: text, value: next, word });
    return 1;
  }
  options.push({ name: text, value: undefined, word });
  if (SIGNAL.test(text)) return 0;
  if (text[1] === "-" || text.length === 2 || /^-\d+$/.test(text)) return 0;
  for (let j = 1; j < text.length; j++) {
    const name = `-${text[j]}`;
    if (!values.has(name)) options.push({ name, value: undefined, word });
    else if (j + 1 < text.length) {
      options.push({ name, value: { ...word, text: text.slice(j + 1) }, word });
      return 0;
    } else {
      options.push({ name, value: next, word });
      return 1;
    }
  }
  return 0;
}

/** `--name=value` and `-name=value`, but not `-eCODE` where the code has an equals sign. */
function isNamed(name: string, values: ReadonlySet<string>): boolean {
  if (!/^--?[\w.:-]+$/.test(name)) return false;
  return name[1] === "-" || name.length === 2 || values.has(name) || !values.has(name.slice(0, 2));
}

export function optionValue({ options }: CommandArguments, ...names: readonly string[]): Word | undefined {
  return options.find(({ name, value }) => value !== undefined && names.includes(name))?.value;
}

export function hasOption({ options }: CommandArguments, ...names: readonly string[]): boolean {
  return options.some(({ name }) => names.includes(name));
}
