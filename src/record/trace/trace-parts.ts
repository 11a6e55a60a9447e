import { readdir, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { HeaderRecord } from "./records.js";
import { TraceFile } from "./trace-file.js";

/** The name that part n of a trace has once the next one was begun; the last part has the trace's own name. */
export function partName(file: string, part: number): string {
  return `${file}.${part}`;
}

interface Parts {
  /** In order. */
  readonly files: readonly string[];
  /** How many are no longer there. */
  readonly missing: number;
}

/** The files that a trace consists of: `file` itself and, when it was rotated, the parts of the same run before it. */
export async function traceParts(file: string): Promise<Parts> {
  const alone = { files: [file], missing: 0 };
  const plain = file !== "-" && (await stat(file).catch(() => undefined))?.isFile();
  const last = plain ? await headerOf(file) : undefined;
  if (last?.run === undefined || last.part === undefined || last.part === 1) return alone;
  const files: string[] = [];
  for (const number of await neighbours(file)) {
    const header = await headerOf(partName(file, number)).catch(() => undefined);
    if (header?.run === last.run && header.part! < last.part) files.push(partName(file, number));
  }
  return { files: [...files, file], missing: last.part - 1 - files.length };
}

async function headerOf(file: string): Promise<HeaderRecord | undefined> {
  const nothing = { from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY };
  for await (const [first] of new TraceFile(file, nothing).blocks())
    return first?.kind === "header" ? first : undefined;
  return undefined;
}

async function neighbours(file: string): Promise<number[]> {
  const names = await readdir(dirname(file)).catch(() => []);
  const base = `${basename(file)}.`;
  return names
    .filter((name) => name.startsWith(base) && /^\d+$/.test(name.slice(base.length)))
    .map((name) => Number(name.slice(base.length)))
    .sort((a, b) => a - b);
}
