import { writeSync } from "node:fs";
import { constants } from "node:os";
import { isatty } from "node:tty";
import { HermesError } from "../errors.js";
import { native } from "../kernel/native.js";

/**
 * HERMES speaks on stderr, and only by plain writes: touching process.stdout or process.stderr would make pipes
 * non-blocking, which the program that shares them would see.
 */
export function say(text: string): void {
  const bytes = Buffer.from(text);
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(2, bytes, done);
  } catch {
    // Nobody listens: that must not change how the program's run ends.
  }
}

export function print(text: string): void {
  const bytes = Buffer.from(text);
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
  } catch (error) {
    // Whoever read has seen enough: end as SIGPIPE ends other programs.
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
    exit(128 + constants.signals.SIGPIPE);
  }
}

/** Ends at once: Node's own exit would reset a terminal that the program may have changed on purpose. */
export function exit(code: number): never {
  try {
    native().exitNow(code);
  } catch {
    // Without the native part there was no program either.
  }
  process.exit(code);
}

/** Ends with what went wrong. */
export function fail(error: unknown): never {
  const known = error instanceof HermesError;
  say(known ? `hermes: ${error.message}\n` : `hermes: unexpected: ${(error as Error).stack}\n`);
  exit(known ? error.exitCode : 125);
}

/** Colour only where a person looks at it. */
export function paint(fd: number): (style: keyof typeof STYLES, text: string) => string {
  const coloured = isatty(fd) && !process.env.NO_COLOR && process.env.TERM !== "dumb";
  return (style, text) => (coloured ? `\u001b[${STYLES[style]}m${text}\u001b[0m` : text);
}

const STYLES = { bold: "1", dim: "2", red: "31", green: "32", yellow: "33", blue: "34", cyan: "36" } as const;
