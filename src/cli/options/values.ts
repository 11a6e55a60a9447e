import { statSync } from "node:fs";
import { resolve } from "node:path";
import { HermesError } from "../../nouns/errors.js";

/** Parses the values of options, with errors for wrong ones. */

export function usageError(message: string): HermesError {
  return new HermesError("USAGE", { message });
}

export function choice<T extends string>(flag: string, value: string, choices: readonly T[]): T {
  const found = choices.find((c) => c === value);
  if (!found) throw usageError(`${flag} takes ${choices.join(" or ")}, not "${value}"`);
  return found;
}

export function wholeNumber(flag: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw usageError(`${flag} takes a whole number, not "${text}"`);
  return Number(text);
}

/** `--workspace`: a folder that must exist, and HERMES_WORKSPACE likewise. */
export function workspaceOption(named: string | undefined): { readonly workspace?: string } {
  for (const [what, folder] of [
    ["--workspace", named],
    ["HERMES_WORKSPACE", process.env.HERMES_WORKSPACE || undefined],
  ] as const)
    if (folder !== undefined && !statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw usageError(`${what}: ${folder === "" ? "the name is empty" : `${folder} is not a folder`}`);
  return named === undefined ? {} : { workspace: resolve(named) };
}

const AGO: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** "2026-11-15", "2026-11-15T14:00Z", "30m" (ago), "today" or "yesterday" (from midnight on). Milliseconds since 1970. */
export function pointInTime(flag: string, text: string): number {
  const daysAgo = ["today", "yesterday"].indexOf(text);
  if (daysAgo >= 0) return new Date().setHours(0, 0, 0, 0) - daysAgo * AGO.d!;
  const ago = /^(\d{1,6})([smhd])$/.exec(text);
  if (ago) return Date.now() - Number(ago[1]) * AGO[ago[2]!]!;
  const time = /^\d{4}-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time))
    throw usageError(`${flag} takes a time such as 2026-11-15T14:00Z or 30m, not "${text}"`);
  return time;
}

const UNITS: Record<string, number> = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** "64M", "2G", "100000". */
export function byteCount(flag: string, text: string): number {
  const match = /^(\d{1,12})([kmg]?)(?:i?b)?$/i.exec(text);
  if (!match) throw usageError(`${flag} takes a number of bytes such as 64M or 2G, not "${text}"`);
  return Number(match[1]) * UNITS[match[2]!.toLowerCase()]!;
}

/** Patterns of functions, `!` before excluded ones. Checked here: an invalid word is wrong usage. */
export async function functionList(flag: string, patterns: readonly string[]): Promise<readonly string[]> {
  const { parseFunctionPattern } = await import("../../policy/function-pattern.js");
  if (patterns.every((pattern) => pattern.startsWith("!")))
    throw usageError(
      `${flag} '${patterns[0]}' only excludes functions: also select some with ${flag} 'libc!*'`,
    );
  try {
    for (const pattern of patterns) parseFunctionPattern(pattern.replace(/^!/, ""));
  } catch (error) {
    throw usageError(`${flag}: ${(error as Error).message}`);
  }
  return patterns;
}

/** System calls and %classes. Checked here: an invalid word is wrong usage. */
export async function callList(flag: string, text: string): Promise<string[]> {
  const { callsNamed } = await import("../../policy/define.js");
  const names = text.split(",").filter((name) => name !== "");
  try {
    for (const name of names) callsNamed(flag, name);
  } catch (error) {
    throw usageError(`${flag}: ${(error as Error).message.replace(/^policy [^:]*: /, "")}`);
  }
  return names;
}
