import { constants } from "node:fs";
import { open } from "node:fs/promises";
import * as z from "zod";
import { harmless } from "../../text.js";
import type { Tool, World } from "../tool.js";
import { decodeFile } from "./encoding.js";
import { type Finder, finder } from "./finder.js";
import { globTest } from "./glob.js";
import { Hidden } from "./hidden.js";
import { mustBeFile, type Pin } from "./pin.js";
import { digestOf, hold, intentOf, judgeReal, nameIn, pathSubject, withTarget } from "./target.js";
import { DEEPEST, type Entry, Omitted, tree } from "./tree.js";

const { O_NOFOLLOW, O_NONBLOCK, O_NOCTTY, O_RDONLY } = constants;

/** A larger file is hardly written by people. */
const LARGEST = 5 << 20;
/** So much is read, in all. */
const MOST = 500 << 20;
const LINE = 400;

const input = z.strictObject({
  pattern: z.string().min(1).max(1000).describe("A regular expression as RE2 takes it, or literal text."),
  literal: z.boolean().default(false),
  ignore_case: z.boolean().default(false),
  path: z.string().min(1).default(".").describe("A folder, or one file."),
  glob: z.string().min(1).max(1000).optional().describe("Only files that fit: *.ts, src/**/*.{ts,tsx}"),
  names: z.boolean().default(false).describe("Look in the names of files, not in them."),
  context: z.int().min(0).max(10).default(0).describe("Lines to show before and after."),
  ignored: z.boolean().default(false).describe("Also what .gitignore hides."),
  limit: z.int().min(1).max(1000).default(100),
});
type Input = z.infer<typeof input>;

export interface Match {
  readonly path: string;
  readonly line?: number;
  readonly text?: string;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

export interface SearchOutput {
  readonly matches: readonly Match[];
  readonly files: number;
  readonly truncated: boolean;
  readonly notes: readonly string[];
}

export const searchFiles: Tool<Input, SearchOutput> = {
  name: "search_files",
  description:
    "Looks for lines with a pattern (RE2, or literal) in text files below a folder, or in their names, without what .gitignore hides. At most limit lines (100, never more than 1,000). Binary files, files over 5 MB and credential files are left out, and secrets taken out.",
  input,
  readOnly: true,

  judge: ({ path }, world) =>
    withTarget(path, "read", world, async ({ real, judgement }) =>
      intentOf({
        what: `search in ${nameIn(world, real)}`,
        subject: pathSubject(path, "read"),
        judgement,
        digest: digestOf("search_files", real),
      }),
    ),

  run: (asked, call, world) =>
    withTarget(asked.path, "read", world, async ({ real, judgement, pin, problem }) => {
      hold(call, judgement, digestOf("search_files", real));
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
  world: World,
  omitted: Omitted,
): AsyncIterable<Entry> {
  if (pin.info.isDirectory()) yield* tree(pin, world, { depth: DEEPEST, ignored, signal }, omitted);
  else yield { path: nameIn(world, pin.path), real: pin.path, kind: "file", way: pin.way, pinned: true };
}

/** One search: what was found so far, and what was left out. */
class Search {
  readonly omitted = new Omitted();
  readonly #asked: Input;
  readonly #find: Finder;
  readonly #world: World;
  readonly #wanted: (path: string) => boolean;
  readonly #matches: Match[] = [];
  readonly #secrets = new Set<string>();
  #files = 0;
  #bytes = 0;
  #binary = 0;
  #large = 0;
  #truncated = false;

  constructor(asked: Input, find: Finder, world: World) {
    this.#asked = asked;
    this.#find = find;
    this.#world = world;
    this.#wanted = asked.glob === undefined ? () => true : globTest(asked.glob);
  }

  /** False: there is enough. */
  async look(entry: Entry): Promise<boolean> {
    if (!this.#wanted(entry.path)) return true;
    if (this.#asked.names) {
      if (entry.kind !== "folder" && this.#find(entry.path))
        this.#add({ path: harmless(nameIn(this.#world, entry.real)) });
    } else if (entry.kind === "file") await this.#lookInto(entry);
    return !this.#truncated && this.#bytes < MOST;
  }

  output(): SearchOutput {
    const notes = this.omitted.notes;
    if (this.#secrets.size > 0) notes.push(`Secrets were taken out (${[...this.#secrets].join(", ")}).`);
    if (this.#binary > 0) notes.push(`${this.#binary} binary files were left out.`);
    if (this.#large > 0) notes.push(`${this.#large} files over ${LARGEST >> 20} MB were left out.`);
    if (this.#bytes >= MOST) notes.push(`The search ended after ${MOST >> 20} MB: name a smaller folder.`);
    if (this.#truncated)
      notes.push(`There are more than ${this.#asked.limit}: narrow the pattern, the folder or the glob.`);
    return { matches: this.#matches, files: this.#files, truncated: this.#truncated, notes };
  }

  #add(match: Match): void {
    this.#truncated = this.#matches.length >= this.#asked.limit;
    if (!this.#truncated) this.#matches.push(match);
  }

  async #lookInto(entry: Entry): Promise<void> {
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
    let hidden: Hidden | undefined;
    for (const [i, line] of lines.entries()) {
      if (this.#find(line.replace(/\r$/, ""))) {
        hidden ??= new Hidden(text);
        this.#add(this.#matchAt(entry, lines, i, start, hidden));
        if (this.#truncated) break;
      }
      start += line.length + 1;
    }
    for (const rule of hidden?.rules ?? []) this.#secrets.add(rule);
  }

  #matchAt(entry: Entry, lines: readonly string[], i: number, start: number, hidden: Hidden): Match {
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
      path: harmless(nameIn(this.#world, entry.real)),
      line: i + 1,
      text: shown(i, start),
      ...(context > 0 && { before, after }),
    };
  }

  /** The entry may be anything by now: it is opened without waiting, and only a file is read. */
  async #contentOf({ way, pinned }: Entry): Promise<Buffer | undefined> {
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
