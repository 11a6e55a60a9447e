import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { decodeText, encodeText } from "../../nouns/text.js";
import { native } from "../binding/native.js";

/** Where the scan keeps what it saw; without a folder it reads everything each time. */
export interface NameMemory {
  readonly folder?: string;
}

/** Names to look for: how they begin and how they end, or the whole name. */
export type NamePattern = { readonly whole: string } | { readonly start: string; readonly end: string };

interface NameScan {
  readonly roots: readonly string[];
  readonly skipped: readonly string[];
  readonly names: readonly NamePattern[];
}

export interface FoundNames {
  /** Files and folders with such a name. */
  readonly paths: readonly string[];
  /** Folders that cannot be listed, although a program of this user can enter them, or could change their mode. */
  readonly unlisted: readonly string[];
}

/** Beyond these bounds, reading is decided at each call. */
const MAX_ENTRIES = 3_000_000;
const MAX_MILLISECONDS = 20_000;
/** A search that came to a bound is not tried again for this long: each run would wait in vain. */
const GIVEN_UP_MS = 3_600_000;
/** The scan writes no memory that is larger (native/scan/scan-memory.c). */
const MAX_MEMORY = 2 ** 28;
const MAX_MEMORIES = 8;

/** Every file and folder below the roots with such a name; undefined where there is too much to look through. */
export function scanNames({ roots, skipped, names }: NameScan, memory: NameMemory): FoundNames | undefined {
  const pairs = names.flatMap((name) => ("whole" in name ? ["=", name.whole] : [name.start, name.end]));
  const key = createHash("sha256")
    .update(JSON.stringify([roots, skipped, pairs]))
    .digest("hex")
    .slice(0, 16);
  const file = memory.folder && join(memory.folder, `names-${key}`);
  if (file && wasGivenUp(file)) return undefined;
  const last = file ? readOwn(file) : NOTHING;
  const result = native().scanNames(
    texts(roots),
    texts(skipped),
    texts(pairs),
    last,
    MAX_ENTRIES,
    MAX_MILLISECONDS,
  );
  if (!result.complete) {
    if (file) remember(`${file}${GIVEN_UP}`, NOTHING);
    return undefined;
  }
  if (file && result.memory.length > 0) remember(file, result.memory);
  return { paths: listOf(result.found), unlisted: listOf(result.unlisted) };
}

function listOf(texts: Uint8Array): string[] {
  return decodeText(texts).split("\0").filter(Boolean);
}

function texts(list: readonly string[]): Uint8Array {
  return new Uint8Array(encodeText(list.map((text) => `${text}\0`).join("")));
}

const NOTHING = new Uint8Array(0);
const GIVEN_UP = ".given-up";

function wasGivenUp(file: string): boolean {
  try {
    const { mtimeMs, uid } = statSync(`${file}${GIVEN_UP}`);
    const age = Date.now() - mtimeMs;
    return uid === process.geteuid?.() && age >= 0 && age < GIVEN_UP_MS;
  } catch {
    return false;
  }
}

/** The memory of another user could leave out what is to be found. Read, not mapped: it cannot change while it is used. */
function readOwn(file: string): Uint8Array {
  let fd: number | undefined;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const info = fstatSync(fd);
    const isOurs = info.isFile() && info.uid === process.geteuid?.() && (info.mode & 0o022) === 0;
    return isOurs && info.size <= MAX_MEMORY ? readFileSync(fd) : NOTHING;
  } catch {
    return NOTHING;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Best effort: without it, the next scan takes longer. */
function remember(file: string, memory: Uint8Array): void {
  const draft = `${file}.${process.pid}.new`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(draft, memory, { mode: 0o600, flag: "wx" });
    renameSync(draft, file);
    removeOldest(dirname(file));
  } catch {
    removeIfPossible(draft);
  }
}

function removeIfPossible(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // the folder is not ours: nothing was written
  }
}

/** Each search has a memory of its own. */
function removeOldest(folder: string): void {
  const files = readdirSync(folder).map((name) => join(folder, name));
  const times = new Map(files.map((file) => [file, statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0]));
  const newestFirst = files.sort((a, b) => times.get(b)! - times.get(a)!);
  for (const file of newestFirst.slice(MAX_MEMORIES)) rmSync(file, { force: true });
}
