import { CommandPatternTable } from "../pattern.js";
import { programOptions } from "../programs/options.js";
import { type CommandCheck, ruleHit } from "./check.js";

/** Options with which a read-only program would run another program, or write. */
const NO_HELPERS =
  "!-c !--exec-path !--ext-diff !--textconv !--output !-O !--open-files-in-pager !--paginate !--config-env !--git-dir !--work-tree";

/**
 * What runs without a question in the strict profile: it only reads, and runs nothing that a project could have put
 * there.
 */
const SAFE = new CommandPatternTable(
  [
    [
      "git",
      `git status|diff|log|show ${NO_HELPERS}`,
      `git branch $ ${NO_HELPERS} !-d !-D !-m !-M !-f !--delete !--move !--force !-C !--copy !--edit-description !-u !--set-upstream-to !--unset-upstream`,
    ],
    ["search", "rg !--pre !--hostname-bin !--search-zip !-z"],
    ["scripts", "npm run|run-script lint|typecheck|build|test|ls $", "npm test|ls|t $", "npm ls"],
    ["compiler", "npx tsc --noEmit $", "npx next lint $", "npx prisma validate|generate $"],
    ["compiler", "tsc --noEmit $", "next lint $", "prisma validate|generate $"],
    ["look", "ls|dir|pwd|true|false|:|cd|wc|test|["],
    ["read", "cat|type|Get-Content|gc * $"],
    ["version", "node|npm|npx|python|python3|tsc|next|prisma --version|-v|-V $"],
    ["version", "npx tsc|next|prisma --version $"],
  ],
  programOptions,
);

/**
 * In the strict profile, every command that is not listed asks. So do redirections into files, and assignments before
 * a command.
 */
export const checkStrict: CommandCheck = ({ argv, assignments, redirects, span, via }, { program }) => {
  if (via.length > 0 && argv.length === 0) return [];
  const writes = redirects.some(({ operator, target }) => operator !== "<" && target.text !== "/dev/null");
  const listed =
    argv.length === 0
      ? assignments.length === 0 || redirects.length === 0
      : SAFE.match(program, argv.slice(1)).length > 0 && !argv[0]!.text.includes("/");
  return listed && !writes && (argv.length === 0 || assignments.length === 0)
    ? []
    : [ruleHit("not-listed", span)];
};
