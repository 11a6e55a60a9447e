import type { Finding } from "../finding.js";
import type { Context } from "../layer.js";
import type { Check, Found, Situation } from "./checks/check.js";
import { judgeCode } from "./checks/code.js";
import { escapes } from "./checks/escapes.js";
import { execution } from "./checks/execution.js";
import { files as fileAccess } from "./checks/files.js";
import { hijack } from "./checks/hijack.js";
import { network } from "./checks/network.js";
import { programs } from "./checks/programs.js";
import { narrowedDumps, secrets } from "./checks/secrets.js";
import { sql } from "./checks/sql.js";
import { strict } from "./checks/strict.js";
import { verbs } from "./checks/verbs.js";
import { lookAlikes } from "./names.js";
import type { Reading } from "./reading.js";
import type { Invocation } from "./script.js";

/** In the order in which findings are shown. Each looks at one invocation. */
const CHECKS: readonly Check[] = [
  programs,
  verbs,
  fileAccess,
  secrets,
  execution,
  escapes,
  network,
  hijack,
  sql,
];

/** Everything that is to be said of a script that has been read. */
export function judgeReading(reading: Reading, context: Context): (Found | Finding)[] {
  const { workspace, home, profile, files } = context;
  const downloaded = new Set<string>();
  const moved = new Set<string>();
  const isFile = (path: string) => !/^(folder|undefined)$/.test(String(files.lstat(path)?.kind));
  const narrowed = narrowedDumps(reading.invocations);
  const all: (Found | Finding)[] = [];
  for (const invocation of reading.invocations) {
    const situation: Situation = {
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
      all.push(...strict(invocation, situation));
  }
  for (const code of reading.code)
    if (!code.filed) all.push(...judgeCode(code, context).map((one) => marked(one, code)));
  all.push(...lookAlikes(reading.invocations.filter(({ suspected }) => !suspected)));
  if (reading.endless) all.push({ rule: "exhaustion", span: reading.endless });
  if (reading.forkBomb) all.push({ rule: "fork-bomb", span: reading.forkBomb });
  for (const { span } of reading.errors.slice(0, 1)) all.push({ rule: "syntax-error", span });
  return all;
}

function marked<T extends Found | Finding>(
  one: T,
  { filed, suspected }: Pick<Invocation, "filed" | "suspected">,
): T {
  if (!suspected) return filed ? { ...one, filed } : one;
  return { ...one, suspected };
}
