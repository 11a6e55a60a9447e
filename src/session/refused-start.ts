import { HermesError } from "../nouns/errors.js";
import { allowCommand, entryAgainstRefusal } from "../people/approval/how-to-allow.js";
import type { SessionOptions } from "./options.js";
import { sessionWorkspace } from "./session-workspace.js";
import type { DecidedCallCount } from "./summary.js";

/** A program that a policy did not let start: the kernel only says EACCES. */
export interface RefusedStart extends HermesError {
  readonly deeds: readonly DecidedCallCount[];
}

/** What to say instead of an error of the start, where a policy refused it. */
export function refusedStart(
  error: unknown,
  options: SessionOptions,
  deeds: readonly DecidedCallCount[],
): RefusedStart | undefined {
  if (!(error instanceof HermesError) || !["NOT_EXECUTABLE", "NOT_FOUND", "LAUNCH"].includes(error.code))
    return undefined;
  const refusal = deeds.findLast(({ call }) => call === "execve" || call === "execveat");
  if (!refusal) return undefined;
  const { policy, rule, reason = "no reason given", action } = refusal;
  const entry = entryAgainstRefusal(refusal);
  const asked = action === "ask" ? " It needs approval, and nobody was asked, or nobody approved it." : "";
  return Object.assign(
    new HermesError("START_REFUSED", {
      program: options.command[0]!,
      rule: [policy, rule].filter(Boolean).join("/"),
      reason: reason + asked,
      allow: entry ? ` (to allow it: ${allowCommand(entry, sessionWorkspace(options).folder)})` : "",
    }),
    { deeds },
  );
}
