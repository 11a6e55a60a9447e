import type { RuleId } from "./rules.js";

/**
 * When the runtime check sees an effect that the text can hide: at exec, when a file is opened, when a connection is
 * made, or when a signal is sent. `code` is about how something is written: the programs that it starts are judged at
 * exec. `text` has no later check: the shell does it itself, or an allowed program does.
 */
export type EnforcementPoint = "exec" | "open" | "connect" | "signal" | "code" | "text";

const ROWS: Readonly<Record<Exclude<EnforcementPoint, "exec">, string>> = {
  open: "secret-read private-data process-memory write-system write-outside write-new delete-outside empty-file overwrite-secrets run-from-temp backdate",
  connect: "private-address internal-address",
  signal: "kill-system",
  code: "hidden-characters look-alike obfuscated syntax-error bare-eval replace-shell dynamic-command dynamic-code hidden-command inline-code pipe-to-interpreter download-and-run shell-escape hijack",
  text: "secret-variable fork-bomb exhaustion too-complex not-listed",
};

const table = new Map(
  Object.entries(ROWS).flatMap(([held, rules]) =>
    rules.split(" ").map((rule) => [rule, held as EnforcementPoint] as const),
  ),
);

/** Every other rule is about a program and its arguments: the runtime check judges those again at exec. */
export const enforcedAt = (rule: RuleId | string): EnforcementPoint => table.get(rule) ?? "exec";

/** Shown by `guard check`. */
export const ENFORCED_AT: Readonly<Record<EnforcementPoint, string>> = {
  exec: "the runtime check judges the program again when it starts",
  open: "the runtime check decides again when the file is opened",
  connect: "the runtime check decides again when the connection is made",
  signal: "the runtime check decides again when the signal is sent",
  code: "the runtime check judges every program that this starts",
  text: "no later check: only the guard stops this",
};
