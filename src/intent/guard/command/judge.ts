import type { Finding } from "../finding.js";
import type { Context } from "../layer.js";
import type { CheckContext, CommandCheck, RuleHit } from "./checks/check.js";
import { judgeCode } from "./checks/code.js";
import { checkEscapes } from "./checks/escapes.js";
import { checkExecution } from "./checks/execution.js";
import { checkFiles } from "./checks/files.js";
import { checkHijack } from "./checks/hijack.js";
import { checkNetwork } from "./checks/network.js";
import { checkPrograms } from "./checks/programs.js";
import { checkSecrets, narrowedDumps } from "./checks/secrets.js";
import { checkSql } from "./checks/sql.js";
import { checkStatements, checkStrict } from "./checks/strict.js";
import { checkVerbs } from "./checks/verbs.js";
import { lookAlikes } from "./look-alikes.js";
import type { CommandReading } from "./reading.js";
import type { Invocation } from "./script.js";

/** In the order in which findings are shown. Each check judges one invocation. */
const CHECKS: readonly CommandCheck[] = [
  checkPrograms,
  checkVerbs,
  checkFiles,
  checkSecrets,
  checkExecution,
  checkEscapes,
  checkNetwork,
  checkHijack,
  checkSql,
];

/** All findings on a script that the reader has read. */
export function judgeReading(reading: CommandReading, context: Context): (RuleHit | Finding)[] {
  const { workspace, home, profile, files } = context;
  const downloaded = new Set<string>();
  const moved = new Set<string>();
  const isFile = (path: string) => !/^(folder|undefined)$/.test(String(files.lstat(path)?.kind));
  const narrowed = narrowedDumps(reading.invocations);
  const all: (RuleHit | Finding)[] = [];
  for (const invocation of reading.invocations) {
    const situation: CheckContext = {
      program: invocation.program,
      surroundings: { workspace, home },
      downloaded,
      narrowed,
      isFile,
      moved,
    };
    for (const check of CHECKS)
      for (const one of check(invocation, situation)) all.push(marked(one, invocation));
    if (profile === "strict" && !invocation.filed && !invocation.suspected)
      all.push(...checkStrict(invocation, situation));
  }
  if (profile === "strict") all.push(...checkStatements(reading.invocations));
  for (const code of reading.code)
    if (!code.filed) all.push(...judgeCode(code, context).map((one) => marked(one, code)));
  all.push(...lookAlikes(reading.invocations.filter(({ suspected }) => !suspected)));
  if (reading.endless) all.push({ rule: "exhaustion", span: reading.endless });
  if (reading.forkBomb) all.push({ rule: "fork-bomb", span: reading.forkBomb });
  for (const { span } of reading.errors.slice(0, 1)) all.push({ rule: "syntax-error", span });
  return all;
}

function marked<T extends RuleHit | Finding>(
  one: T,
  { filed, suspected }: Pick<Invocation, "filed" | "suspected">,
): T {
  if (!suspected) return filed ? { ...one, filed } : one;
  return { ...one, suspected };
}
