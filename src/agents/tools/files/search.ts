import { constants } from "node:fs";
import { open } from "node:fs/promises";
import * as z from "zod";
import { escapeControl } from "../../../nouns/text.js";
import type { Tool, ToolContext } from "../tool.js";
import { decodeFile } from "./encoding.js";
import {
  intentOf,
  judgeReal,
  nameIn,
  operationDigest,
  pathSubject,
  requireApproved,
  withTarget,
} from "./file-target.js";
import { globTest } from "./glob.js";
import { mustBeFile, type Pin } from "./pin.js";
import { SecretHider } from "./secret-hider.js";
import { type Finder, finder } from "./text-finder.js";
import { DEEPEST, Omitted, type TreeEntry, tree } from "./tree.js";

const { O_NOFOLLOW, O_NONBLOCK, O_NOCTTY, O_RDONLY } = constants;

/** Larger files are rarely written by people. */
const LARGEST = 5 << 20;
/** Bytes read by one search. */
const MOST = 500 << 20;
const LINE = 400;

const input = z.strictObject({
  pattern: z.string().min(1).max(1000).describe("An RE2 regular expression, or literal text."),
  literal: z.boolean().default(false),
  ignore_case: z.boolean().default(false),
  path: z.string().min(1).default(".").describe("A folder, or one file."),
  glob: z.string().min(1).max(1000).optional().describe("Only matching files: *.ts, src/**/*.{ts,tsx}"),
  names: z.boolean().default(false).describe("Search file names instead of contents."),
  context: z.int().min(0).max(10).default(0).describe("Lines shown before and after each match."),
  ignored: z.boolean().default(false).describe("Include files that .gitignore excludes."),
  limit: z.int().min(1).max(1000).default(100),
});
type Input = z.infer<typeof input>;

interface SearchMatch {
  readonly path: string;
  readonly line?: number;
  readonly text?: string;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

interface SearchOutput {
  readonly matches: readonly SearchMatch[];
  readonly files: number;
  readonly truncated: boolean;
  readonly notes: readonly string[];
}

export const searchFiles: Tool<Input, SearchOutput> = {
  name: "search_files",
  description:
    "Searches text files below a folder, or their names, for a pattern (RE2 or literal), without files that .gitignore excludes. At most limit lines (default 100, maximum 1,000). Skips binary files, files over 5 MB and credential files, and redacts secrets.",
  input,
  readOnly: true,

  judge: ({ path }, world) =>
    withTarget(path, "read", world, async ({ real, judgement }) =>
      intentOf({
        what: `search in ${nameIn(world, real)}`,
        subject: pathSubject(path, "read"),
        judgement,
        digest: operationDigest("search_files", real),
      }),
    ),

  run: (asked, call, world) =>
    withTarget(asked.path, "read", world, async ({ real, judgement, pin, problem }) => {
      requireApproved(call, judgement, operationDigest("search_files", real));
      if (!pin) throw problem;
      if (!pin.info.isDirectory()) mustBeFile(asked.path, pin.info);
      const search = new Search(asked, await finder(asked), world);
      for await (const entry of entries(pin, asked, call.signal, world, search.omitted))
        if (!(await search.look(entry))) break;
      return search.output();
    }),
};

async function* entries(
  pin: Pin,
  { ignored }: Input,
  signal: AbortSignal,
  world: ToolContext,
  omitted: Omitted,
): AsyncIterable<TreeEntry> {
  if (pin.info.isDirectory()) yield* tree(pin, world, { depth: DEEPEST, ignored, signal }, omitted);
  else yield { path: nameIn(world, pin.path), real: pin.path, kind: "file", way: pin.way, pinned: true };
}

/** One search: the matches so far, and what was skipped. */
class Search {
  readonly omitted = new Omitted();
  readonly #asked: Input;
  readonly #find: Finder;
  readonly #world: ToolContext;
  readonly #wanted: (path: string) => boolean;
  readonly #matches: SearchMatch[] = [];
  readonly #secrets = new Set<string>();
  #files = 0;
  #bytes = 0;
  #binary = 0;
  #large = 0;
  #truncated = false;

  constructor(asked: Input, find: Finder, world: ToolContext) {
    this.#asked = asked;
    this.#find = find;
    this.#world = world;
    this.#wanted = asked.glob === undefined ? () => true : globTest(asked.glob);
  }

  /** False: the limit is reached. */
  async look(entry: TreeEntry): Promise<boolean> {
    if (!this.#wanted(entry.path)) return true;
    if (this.#asked.names) {
      if (entry.kind !== "folder" && this.#find(entry.path))
        this.#add({ path: escapeControl(nameIn(this.#world, entry.real)) });
    } else if (entry.kind === "file") await this.#lookInto(entry);
    return !this.#truncated && this.#bytes < MOST;
  }

  output(): SearchOutput {
    const notes = this.omitted.notes;
    if (this.#secrets.size > 0) notes.push(`Secrets are redacted (${[...this.#secrets].join(", ")}).`);
    if (this.#binary > 0) notes.push(`${files(this.#binary, "binary file")} skipped.`);
    if (this.#large > 0) notes.push(`${files(this.#large, "file", ` over ${LARGEST >> 20} MB`)} skipped.`);
    if (this.#bytes >= MOST)
      notes.push(`The search stopped after ${MOST >> 20} MB: choose a smaller folder.`);
    if (this.#truncated)
      notes.push(`More than ${this.#asked.limit} matches: narrow the pattern, the folder or the glob.`);
    return { matches: this.#matches, files: this.#files, truncated: this.#truncated, notes };
  }

  #add(match: SearchMatch): void {
    this.#truncated = this.#matches.length >= this.#asked.limit;
    if (!this.#truncated) this.#matches.push(match);
  }

  async #lookInto(entry: TreeEntry): Promise<void> {
    if (!entry.pinned && judgeReal(entry.real, "read", this.#world).action !== "allow") {
      this.omitted.refused.push(nameIn(this.#world, entry.real));
      return;
    }
    const bytes = await this.#contentOf(entry);
    const text = bytes && decodeFile(bytes)?.text;
    if (bytes && text === undefined) this.#binary++;
    if (text === undefined) return;
    this.#files++;
    const lines = text.split("\n");
    let start = 0;
    let hidden: SecretHider | undefined;
    for (const [i, line] of lines.entries()) {
      if (this.#find(line.replace(/\r$/, ""))) {
        hidden ??= new SecretHider(text);
        this.#add(this.#matchAt(entry, lines, i, start, hidden));
        if (this.#truncated) break;
      }
      start += line.length + 1;
    }
    for (const rule of hidden?.rules ?? []) this.#secrets.add(rule);
  }

  #matchAt(
    entry: TreeEntry,
    lines: readonly string[],
    i: number,
    start: number,
    hidden: SecretHider,
  ): SearchMatch {
    const { context } = this.#asked;
    const shown = (k: number, from: number) => shortened(hidden.part(from, from + lines[k]!.length));
    const before: string[] = [];
    for (let k = i - 1, at = start; k >= 0 && before.length < context; k--) {
      at -= lines[k]!.length + 1;
      before.unshift(shown(k, at));
    }
    const after: string[] = [];
    for (let k = i, at = start; k + 1 < lines.length && after.length < context; ) {
      at += lines[k++]!.length + 1;
      after.push(shown(k, at));
    }
    return {
      path: escapeControl(nameIn(this.#world, entry.real)),
      line: i + 1,
      text: shown(i, start),
      ...(context > 0 && { before, after }),
    };
  }

  /** The entry may have been replaced since: it is opened without blocking, and only a regular file is read. */
  async #contentOf({ way, pinned }: TreeEntry): Promise<Buffer | undefined> {
    const flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | (pinned ? 0 : O_NOFOLLOW);
    const handle = await open(way, flags).catch(() => undefined);
    try {
      const info = await handle?.stat();
      if (!handle || !info?.isFile()) return undefined;
      if (info.size > LARGEST) {
        this.#large++;
        return undefined;
      }
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(info.size), 0, info.size, 0);
      this.#bytes += bytesRead;
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle?.close();
    }
  }
}

function shortened(line: string): string {
  const text = line.replace(/[\r\n]+$/, "");
  return text.length > LINE ? `${text.slice(0, LINE)}…` : text;
}

function files(count: number, noun: string, rest = ""): string {
  return count === 1 ? `1 ${noun}${rest} was` : `${count} ${noun}s${rest} were`;
}
