import { CommandPatternTable } from "../pattern.js";
import { programOptions } from "../programs/options.js";
import type { Invocation } from "../script.js";
import { type CommandCheck, type RuleHit, ruleHit } from "./check.js";

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
    ["look", "ls|dir|pwd"],
    ["read", "cat|type|Get-Content|gc * $"],
    ["version", "node|npm|npx|python|python3|tsc|next|prisma --version|-v|-V $"],
    ["version", "npx tsc|next|prisma --version $"],
  ],
  programOptions,
);

/** What the strict profile refuses by name, also where other rules see that it does no harm. */
const BLOCKED = new CommandPatternTable(
  [
    ["secrets", "printenv"],
    ["publish", "git push", "npm|pnpm|yarn publish", "vercel deploy", "railway up"],
  ],
  programOptions,
);
const READERS = new Set(["cat", "type", "get-content", "gc"]);
const ENV_FILE = /(?:^|[\\/])\.env[^\\/]*$/i;

/**
 * In the strict profile, every command that is not listed asks. So do redirections, and assignments before a command.
 * Some commands are refused whatever their arguments.
 */
export const checkStrict: CommandCheck = ({ argv, assignments, redirects, span, via }, { program }) => {
  if (via.length > 0 && argv.length === 0) return [];
  const args = argv.slice(1);
  const isBlocked =
    BLOCKED.match(program, args).length > 0 ||
    (program === "exec" && argv.length > 0) ||
    (READERS.has(program.toLowerCase()) && args.some(({ text }) => ENV_FILE.test(text)));
  if (isBlocked) return [ruleHit("blocked-by-name", span)];
  const listed = argv.length > 0 && SAFE.match(program, args).length > 0 && !argv[0]!.text.includes("/");
  return listed && redirects.length === 0 && assignments.length === 0 ? [] : [ruleHit("not-listed", span)];
};

/** In the strict profile, several statements ask, whatever they are: `&&`, `||`, `;`, `|`, lines. */
export function checkStatements(invocations: readonly Invocation[]): RuleHit[] {
  const own = invocations.filter(({ via, filed, suspected }) => via.length === 0 && !filed && !suspected);
  const [first, ...others] = own;
  const another = others.find(({ span }) => span.start !== first!.span.start);
  return another ? [ruleHit("several-statements", another.span)] : [];
}
