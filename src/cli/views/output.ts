import { writeSync } from "node:fs";
import { constants } from "node:os";
import { isatty } from "node:tty";
import { native } from "../../kernel/binding/native.js";
import { HermesError } from "../../nouns/errors.js";

/**
 * HERMES writes messages to stderr with plain write calls. Using process.stdout or process.stderr would make pipes
 * non-blocking, which the program that shares them would notice.
 */
export function say(text: string): void {
  const bytes = Buffer.from(text);
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(2, bytes, done);
  } catch {
    // stderr is closed: that must not change the exit status.
  }
}

export function print(text: string): void {
  const bytes = Buffer.from(text);
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
  } catch (error) {
    // The reader has closed the pipe: end like a program that gets SIGPIPE.
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
    exit(128 + constants.signals.SIGPIPE);
  }
}

/** Exits immediately: Node's own exit would reset a terminal that the program may have changed on purpose. */
export function exit(code: number): never {
  try {
    native().exitNow(code);
  } catch {
    // Without the native module there was no program either.
  }
  process.exit(code);
}

/** Exits with an error message. */
export function fail(error: unknown): never {
  const known = error instanceof HermesError;
  say(known ? `hermes: ${error.message}\n` : `hermes: unexpected: ${(error as Error).stack}\n`);
  exit(known ? error.exitCode : 125);
}

/** Colour only on a terminal. */
export function paint(fd: number): (style: keyof typeof STYLES, text: string) => string {
  const coloured = isatty(fd) && !process.env.NO_COLOR && process.env.TERM !== "dumb";
  return (style, text) => (coloured ? `\u001b[${STYLES[style]}m${text}\u001b[0m` : text);
}

const STYLES = { bold: "1", dim: "2", red: "31", green: "32", yellow: "33", blue: "34", cyan: "36" } as const;
