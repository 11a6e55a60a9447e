import { readArguments } from "../arguments.js";
import { interpreterOf } from "../interpreters.js";
import { PROGRAMS } from "../programs/index.js";
import { programOptions } from "../programs/options.js";
import {
  DESTROYS,
  DESTROYS_BY_OPTION,
  DESTROYS_FOR_SURE,
  KEEPERS,
  OWN_THINGS,
  SOURCES,
} from "../programs/verbs.js";
import { isText } from "../suspects.js";
import { wrappersOf } from "../wrappers.js";
import { type Check, found } from "./check.js";
import { isProbe } from "./programs.js";

/** How many words of `tool noun noun verb name` may come before the name. */
const DEEP = 4;
const HARMLESS = /^(--dry-run|--dryrun|-n|--help|-h|--simulate|--plan|--check|--preview)$/;

/** Deleting, as tools call it that keep data somewhere else. */
export const verbs: Check = ({ argv, span }, { program }) => {
  const words = argv.slice(1);
  if (words.length === 0 || isProbe(words)) return [];
  const keeper = KEEPERS.has(program);
  const verb = keeper ? DESTROYS : DESTROYS_FOR_SURE;
  if (!words.some(({ text }) => verb.test(text) || DESTROYS_BY_OPTION.test(text))) return [];
  if (!keeper && !isUnknown(program)) return [];
  const { operands, options } = readArguments(words, programOptions(program));
  if (options.some(({ word }) => HARMLESS.test(word.text))) return [];
  const first = operands.slice(0, DEEP).map(({ text }) => text);
  const at = first.findIndex((text) => text.length < 40 && verb.test(text));
  const noun = first[at - 1] ?? "";
  if (OWN_THINGS.test(noun) || (SOURCES.test(noun) && /^(remove|rm)$/.test(first[at] ?? ""))) return [];
  // A tool that nobody knows: `tool delete x` and `tool noun delete`, not a file called so.
  const meant = at >= 0 && (keeper || (operands.length > 1 && at < 3));
  const option = keeper && options.some(({ name }) => DESTROYS_BY_OPTION.test(name));
  return meant || option ? [found("tool-destructive", span)] : [];
};

/** Neither a table nor a wrapper nor an interpreter says anything of it. */
const isUnknown = (program: string) =>
  /^[a-z][\w-]*$/.test(program) &&
  !PROGRAMS.knows(program) &&
  !isText(program) &&
  !interpreterOf(program) &&
  wrappersOf(program).length === 0;
