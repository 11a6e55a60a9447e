import type { SyscallName } from "./arguments.generated.js";
import { errnoNumber } from "./errno.js";
import { parseFlags } from "./flags.js";
import { syscallByName } from "./index.js";
import { signalNumber } from "./signal.js";

/** Stands for the working directory in place of a descriptor. */
export const AT_FDCWD = -100;

/**
 * Numbers of the ABI by name, for code that needs them as constants:
 * `const EXECVE = callNumber("execve")`. An unknown name throws, so that a typing error cannot become a wrong number.
 */
export function callNumber(name: SyscallName): number {
  return known("system call", name, syscallByName(name)?.nr);
}

/** Several at once: `callNumbers("execve execveat")`. */
export function callNumbers(names: string): readonly number[] {
  return names.split(" ").map((name) => callNumber(name as SyscallName));
}

export function errnoValue(name: string): number {
  return known("errno", name, errnoNumber(name));
}

export function signalValue(name: string): number {
  return known("signal", name, signalNumber(name));
}

/** `flagsValue("mmap_flags", "MAP_PRIVATE|MAP_ANONYMOUS")`: tables of flags.generated.ts. */
export function flagsValue(table: string, names: string): number {
  return parseFlags(table, names);
}

function known(what: string, name: string, number: number | undefined): number {
  if (number === undefined) throw new RangeError(`no ${what} "${name}"`);
  return number;
}
