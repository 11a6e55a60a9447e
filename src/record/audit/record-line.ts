import type { AuditRow } from "../store/store.js";
import type { AuditBodies, AuditKind } from "./records.js";

type Words = { readonly [K in AuditKind]: (body: AuditBodies[K]) => readonly unknown[] };

const WORDS: Words = {
  session: ({ what, agent, workspace }) => [what, agent, workspace],
  "tool-call": ({ action, tool, input, findings }) => [
    action,
    tool,
    input,
    findings?.length > 0 && `(${findings.map(({ rule }) => rule).join(", ")})`,
  ],
  "approval-asked": ({ what, keys }) => ["?", what, keys?.length > 0 && `(${keys.join(", ")})`],
  "approval-answered": ({ state, scope, by, what, note }) => [state, scope, "by", by, what, note],
  deed: ({ action, what, policy, rule, reason, times }) => [
    action,
    what,
    times !== undefined && times > 1 && `×${times}`,
    policy !== undefined && `(${[policy, rule].filter(Boolean).join("/")})`,
    reason,
  ],
  outcome: ({ status, exitCode, signal, durationMs, reason }) => [
    status,
    exitCode !== undefined && `exit ${exitCode}`,
    signal,
    durationMs !== undefined && `${durationMs} ms`,
    reason,
  ],
  policy: ({ name, version, file }) => [name, version, file],
  config: ({ what, by, file }) => [what, by !== undefined && `by ${by}`, file],
};

/** A record in one line. Its text is hostile. */
export function recordLine({ kind, body }: AuditRow): string {
  try {
    const parts = (WORDS[kind as AuditKind] as (body: unknown) => readonly unknown[])(JSON.parse(body));
    return parts.filter((part) => part !== undefined && part !== false && part !== "").join(" ");
  } catch {
    // A kind that this version does not know, or a body that is not what it should be.
    return body;
  }
}

/** Every text and number in a body, one per line. */
export function bodyWords(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  return Object.values(value).map(bodyWords).join("\n");
}
