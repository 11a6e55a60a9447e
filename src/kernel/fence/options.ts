import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { suggest } from "../../abi/index.js";
import { HermesError } from "../../nouns/errors.js";
import { commonFolders } from "../../nouns/path.js";
import { type FenceLevel, LEVELS, REQUIRABLE } from "../../nouns/protection.js";
import type { PolicyFence } from "../../policy/policy.js";

/** The options of a fence: from the command line, from a caller and from policies. */
export interface FenceOptions extends PolicyFence {
  readonly level?: FenceLevel;
  /** Protections that the run requires: it does not start without them. */
  readonly requires?: readonly string[];
  /** Pass only safe variables and those that keepEnv names. Default: on at the level strict. */
  readonly cleanEnv?: boolean;
}

export function fenceOptions(
  fence: FenceLevel | FenceOptions | undefined,
): FenceOptions & { level: FenceLevel } {
  const options: FenceOptions = typeof fence === "string" ? { level: fence } : (fence ?? {});
  const level = options.level ?? "standard";
  if (!LEVELS.includes(level)) throw usage(`unknown fence level "${level}" (levels: ${LEVELS.join(", ")})`);
  for (const name of options.requires ?? []) checkRequirable(name);
  for (const port of [...(options.connectPorts ?? []), ...(options.bindPorts ?? [])])
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw usage(`${port} is not a TCP port (0 to 65535)`);
  return { ...options, level };
}

function checkRequirable(name: string): void {
  if (REQUIRABLE.includes(name)) return;
  const near = suggest(name, REQUIRABLE);
  throw usage(
    `unknown protection "${name}"${near ? `: did you mean "${near}"?` : ""} (known: ${REQUIRABLE.join(", ")})`,
  );
}

function usage(message: string): HermesError {
  return new HermesError("USAGE", { message });
}

/** The same options with canonical paths; every path must exist. */
export function withRealPaths(options: FenceOptions, cwd: string): FenceOptions {
  const all = (what: string, list: readonly string[]) => list.map((path) => existing(what, path, cwd));
  const { readable, writable, hidden } = options;
  return {
    ...options,
    ...(readable && { readable: all("readable", readable) }),
    ...(writable && { writable: all("writable", writable) }),
    ...(hidden && { hidden: all("hidden", hidden) }),
  };
}

/** Combines options: the strictest level, the smallest limits, and the intersection of each list. */
export function combine(options: readonly FenceOptions[]): FenceOptions {
  const numbers = (pick: (o: FenceOptions) => number | undefined) =>
    smallest(options.flatMap((o) => pick(o) ?? []));
  const lists = <T>(pick: (o: FenceOptions) => readonly T[] | undefined, common: Common<T>) =>
    options
      .flatMap((o) => (pick(o) ? [pick(o)!] : []))
      .reduce<readonly T[] | undefined>(
        (all, list) => (all === undefined ? list : common(all, list)),
        undefined,
      );
  const union = (pick: (o: FenceOptions) => readonly string[] | undefined) => [
    ...new Set(options.flatMap((o) => pick(o) ?? [])),
  ];
  const level = LEVELS[Math.max(...options.map((o) => LEVELS.indexOf(o.level ?? "none")))]!;
  const cleanEnv =
    options.some((o) => o.cleanEnv) || (options.every((o) => o.cleanEnv !== false) ? undefined : false);
  return defined({
    level,
    readable: lists((o) => o.readable, commonFolders),
    writable: lists((o) => o.writable, commonFolders),
    connectPorts: lists((o) => o.connectPorts, commonPorts),
    bindPorts: lists((o) => o.bindPorts, commonPorts),
    alsoWritable: union((o) => o.alsoWritable),
    hidden: union((o) => o.hidden),
    requires: union((o) => o.requires),
    keepEnv: union((o) => o.keepEnv),
    setEnv: Object.assign({}, ...options.map((o) => o.setEnv)) as Readonly<Record<string, string>>,
    network: options.some((o) => o.network === "own")
      ? ("own" as const)
      : options.find((o) => o.network)?.network,
    memory: numbers((o) => o.memory),
    processes: numbers((o) => o.processes),
    cpus: numbers((o) => o.cpus),
    cleanEnv,
  });
}

type Common<T> = (a: readonly T[], b: readonly T[]) => readonly T[];

export const commonPorts = (a: readonly number[], b: readonly number[]) =>
  a.filter((port) => b.includes(port));

function smallest(numbers: readonly number[]): number | undefined {
  return numbers.length === 0 ? undefined : Math.min(...numbers);
}

function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as never;
}

/** A folder or file that the user named: it must exist, and its canonical path is used. */
function existing(what: string, path: string, cwd: string): string {
  const named = path.startsWith("~/") && process.env.HOME ? process.env.HOME + path.slice(1) : path;
  const absolute = resolve(cwd, named);
  if (!existsSync(absolute)) throw usage(`${path} does not exist, so it cannot be made ${what}`);
  return realpathSync.native(absolute);
}
