import { constants, readFileSync } from "node:fs";
import { decodeText } from "../../nouns/text.js";

/** The state at HERMES's start that Node does not preserve; the `hermes` script records it. */
export interface StartState {
  /** Bit n - 1: signal n was ignored, as with nohup. */
  readonly ignoredSignals: bigint;
  readonly blockedSignals: bigint;
  /** Descriptors for the program's 0, 1 and 2; -1 where one was closed. */
  readonly stdio: readonly [number, number, number];
  readonly blockingStdio: readonly (boolean | undefined)[];
  /** The soft limit of open files, which Node raises. */
  readonly openFiles: bigint | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Reads the note and removes it from the environment, which the program inherits. */
export function takeStartState(): StartState {
  const { HERMES_START = "", HERMES_ENVIRONMENT = "" } = process.env;
  delete process.env.HERMES_START;
  delete process.env.HERMES_ENVIRONMENT;
  const [ignored = "", blocked = "", files = "", ...closed] = HERMES_START.split(" ");
  const fd = (n: number) => (closed.includes(String(n)) ? -1 : n);
  return {
    ignoredSignals: signalSet(ignored),
    blockedSignals: signalSet(blocked),
    stdio: [fd(0), fd(1), fd(2)],
    blockingStdio: [0, 1, 2].map(isBlocking),
    openFiles: /^\d+$/.test(files) ? BigInt(files) : files === "unlimited" ? 2n ** 64n - 1n : undefined,
    env: HERMES_ENVIRONMENT === "" ? process.env : environment(Buffer.from(HERMES_ENVIRONMENT, "base64")),
  };
}

/** Call before Node starts a process: that makes shared descriptors blocking. */
function isBlocking(fd: number): boolean | undefined {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1];
    return flags === undefined ? undefined : (Number.parseInt(flags, 8) & constants.O_NONBLOCK) === 0;
  } catch {
    return undefined;
  }
}

function signalSet(text: string): bigint {
  return /^[0-9a-f]{16}$/.test(text) ? BigInt(`0x${text}`) : 0n;
}

function environment(bytes: Buffer): Record<string, string> {
  const entries = decodeText(bytes).split("\0").slice(0, -1);
  return Object.fromEntries(
    entries.map((entry) => {
      const at = entry.indexOf("=");
      return at < 0 ? [entry, ""] : [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );
}

/** The raw arguments of `hermes`. Node replaces bytes that are not UTF-8; here they survive. */
export function commandWords(): string[] {
  const count = process.argv.length - 2;
  try {
    const words = decodeText(readFileSync("/proc/self/cmdline")).split("\0").slice(0, -1);
    return count > 0 && words.length > count ? words.slice(-count) : process.argv.slice(2);
  } catch {
    return process.argv.slice(2);
  }
}
