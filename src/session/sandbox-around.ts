import { NEEDED_CALLS, native } from "../kernel/binding/native.js";
import { HermesError } from "../nouns/errors.js";

/**
 * Throws if a sandbox around HERMES refuses what a session needs: otherwise the session would hang half way. Without
 * `traces` it needs no ptrace.
 */
export function checkSandboxAround({ traces }: { readonly traces: boolean }): void {
  const bits = native().refusedCalls();
  const refused = NEEDED_CALLS.filter((_, i) => bits & (1 << i));
  const calls = traces ? refused : refused.filter((name) => name !== "ptrace");
  if (calls.length > 0) throw new HermesError("SANDBOXED", { calls: calls.join(", ") });
}
