import type { RuleId } from "./rules.js";

/**
 * Where the runtime check meets an effect again, should the text have hidden it: when a program starts, when a file is
 * opened, when a connection is made, when a signal is sent. `code` is about how something is written: what it comes to run
 * is met at `exec`. `text` is met nowhere else: the shell does it by itself, or it is what an allowed program does.
 */
export type Held = "exec" | "open" | "connect" | "signal" | "code" | "text";

const ROWS: Readonly<Record<Exclude<Held, "exec">, string>> = {
  open: "secret-read private-data process-memory write-system write-outside write-new delete-outside empty-file overwrite-secrets run-from-temp backdate",
  connect: "private-address internal-address",
  signal: "kill-system",
  code: "hidden-characters look-alike obfuscated syntax-error bare-eval replace-shell dynamic-command dynamic-code hidden-command inline-code pipe-to-interpreter download-and-run shell-escape hijack",
  text: "secret-variable fork-bomb exhaustion too-complex not-listed",
};

const table = new Map(
  Object.entries(ROWS).flatMap(([held, rules]) =>
    rules.split(" ").map((rule) => [rule, held as Held] as const),
  ),
);

/** Every other rule is about a program and its words: these are judged again when it starts. */
export const heldAt = (rule: RuleId | string): Held => table.get(rule) ?? "exec";

/** For a person who reads `guard check`. */
export const HELD: Readonly<Record<Held, string>> = {
  exec: "the runtime check judges the program again when it starts",
  open: "the runtime check holds it when the file is opened",
  connect: "the runtime check holds it when the connection is made",
  signal: "the runtime check holds it when the signal is sent",
  code: "the runtime check judges whatever this comes to run",
  text: "nothing but this check stops it",
};
