import { compileWord } from "./glob.js";

/** How a program was started: its words, and the file that really runs. */
export interface CommandLine {
  readonly argv: readonly string[];
  /** The file's canonical path, and the requested path. */
  readonly files: readonly string[];
}

/** The start of a command line: a pattern per word, `**` for any number of words. */
export interface ArgvPattern {
  /** The program's name when it is a plain one: the key for lookups. */
  readonly name: string | undefined;
  match(command: CommandLine, trustsFirstWord: boolean): boolean;
}

type Word = "**" | ((word: string) => boolean);

export function compileArgv(texts: readonly string[]): ArgvPattern {
  const [program = "**", ...rest] = texts;
  const words: Word[] = rest.map((text) => (text === "**" ? "**" : compileWord(text)));
  const isProgram: Word = program === "**" ? "**" : compileWord(program);
  const byPath = program.includes("/");
  return {
    name: /^[\w.+-]+$/.test(program) ? program : undefined,
    match({ argv, files }, trustsFirstWord) {
      // If the program is `**`, the words may also come anywhere later.
      if (isProgram === "**") return matchWords(["**", ...words], argv, 0);
      const names = byPath ? [...files] : files.map(baseName);
      if (trustsFirstWord && argv[0] !== undefined) names.push(byPath ? argv[0] : baseName(argv[0]));
      return names.some(isProgram) && matchWords(words, argv, 1);
    },
  };
}

/** The names under which a command line is looked up. */
export function commandNames({ argv, files }: CommandLine): Set<string> {
  return new Set([...files, ...argv.slice(0, 1)].map(baseName));
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function matchWords(words: readonly Word[], argv: readonly string[], from: number): boolean {
  let w = 0;
  let a = from;
  let retry = -1;
  let retryAt = 0;
  while (w < words.length) {
    const word = words[w]!;
    if (word === "**") {
      retry = w++;
      retryAt = a;
    } else if (a < argv.length && word(argv[a]!)) {
      w++;
      a++;
    } else if (retry >= 0 && retryAt < argv.length) {
      w = retry + 1;
      a = ++retryAt;
    } else return false;
  }
  return true;
}
