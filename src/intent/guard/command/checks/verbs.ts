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
  SOURCE_LISTS,
} from "../programs/verbs.js";
import { takesWords } from "../suspected-commands.js";
import { wrappersOf } from "../wrappers.js";
import { type CommandCheck, ruleHit } from "./check.js";
import { isProbe } from "./programs.js";

/** How many words of `tool noun noun verb name` can come before the name. */
const DEEP = 4;
const HARMLESS = /^(--dry-run|--dryrun|-n|--help|-h|--simulate|--plan|--check|--preview)$/;

/** Judges verbs for deleting, in tools that keep data elsewhere. */
export const checkVerbs: CommandCheck = ({ argv, span }, { program }) => {
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
  if (OWN_THINGS.test(noun) || (SOURCE_LISTS.test(noun) && /^(remove|rm)$/.test(first[at] ?? ""))) return [];
  // For an unknown tool: `tool delete x` and `tool noun delete`, but not a file called `delete`.
  const meant = at >= 0 && (keeper || (operands.length > 1 && at < 3));
  const option = keeper && options.some(({ name }) => DESTROYS_BY_OPTION.test(name));
  return meant || option ? [ruleHit("tool-destructive", span)] : [];
};

/** Whether no table, wrapper or interpreter knows the program. */
const isUnknown = (program: string) =>
  /^[a-z][\w-]*$/.test(program) &&
  !PROGRAMS.knows(program) &&
  !takesWords(program) &&
  !interpreterOf(program) &&
  wrappersOf(program).length === 0;
