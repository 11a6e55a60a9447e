import { NAME_ONLY } from "../pattern.js";
import { PROGRAMS } from "../programs/index.js";
import { type CommandCheck, ruleHit } from "./check.js";

/** Applies the tables of programs. */
export const checkPrograms: CommandCheck = ({ argv, span }, { program }) => {
  const [command, ...words] = argv;
  if (!command || isProbe(words)) return [];
  return PROGRAMS.match(withoutMinor(program), words).map(({ value, word }) =>
    ruleHit(value, word === NAME_ONLY ? command.span : joined(command.span, word.span, span)),
  );
};

/** `python3.12` is python3. */
const withoutMinor = (program: string) =>
  program.startsWith("python") ? program.replace(/\.\d+$/, "") : program;

/** `tool --version` and `tool --help` have no effect. */
const PROBES = /^(--version|--help|-V|-h|--usage|-help|-version|version)$/;

export function isProbe(words: readonly { readonly text: string }[]): boolean {
  if (words.length > 1) return words.at(-1)!.text === "--help";
  return words.length === 1 && PROBES.test(words[0]!.text) && words[0]!.text !== "-h";
}

function joined(
  a: { start: number; end: number },
  b: { start: number; end: number },
  whole: { start: number; end: number },
) {
  const start = Math.min(a.start, b.start);
  const end = Math.max(a.end, b.end);
  return start >= whole.start && end <= whole.end ? { start, end } : whole;
}
