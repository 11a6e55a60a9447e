import type { CallRecord } from "../../record/trace/records.js";
import type { TracedProcess } from "./processes.js";
import type { RecordedEffect } from "./recorded-effects.js";

export interface FileFacts {
  readonly path: string;
  /** How often it was opened to read, changed, taken away, run. */
  reads: number;
  writes: number;
  deletes: number;
  execs: number;
  bytesRead: number;
  bytesWritten: number;
  /** Attempts that failed. */
  failed: number;
  /** It was made by a call that makes sure that it is new: its name is of this run alone, most likely. */
  temporary: boolean;
  first: number;
  last: number;
  /** Programs that used it. */
  readonly by: Set<string>;
}

const MAX_FILES = 200_000;
const MAX_USERS = 8;
const PRIVATE = "0700";
const READS = new Set(["read", "pread64", "readv", "preadv", "preadv2"]);
const WRITES = new Set(["write", "pwrite64", "writev", "pwritev", "pwritev2"]);

/** Files that were used. Memory is bounded: past a limit, new names are counted and not kept. */
export class FileStatistics {
  readonly byPath = new Map<string, FileFacts>();
  /** Files that were left out. */
  omitted = 0;

  note(effect: RecordedEffect, record: CallRecord, process: TracedProcess): void {
    const { path, does } = effect;
    if (path === undefined) return;
    const kind = kindOf(does);
    if (kind === undefined) return;
    const file = this.#file(path, record.time);
    if (!file) return;
    file.last = record.time;
    file.temporary ||= makesTemporary(record);
    if (file.by.size < MAX_USERS && process.exe !== "") file.by.add(process.exe);
    if (record.errno !== undefined || record.action === "deny" || record.action === "kill") file.failed++;
    else file[kind]++;
  }

  /** Data that went through an open file. */
  data(record: CallRecord): void {
    const { name, target, result } = record;
    if (result === undefined || result <= 0 || target === undefined || !target.startsWith("/")) return;
    if (READS.has(name)) {
      const file = this.#file(target, record.time);
      if (file) file.bytesRead += result;
    } else if (WRITES.has(name)) {
      const file = this.#file(target, record.time);
      if (file) file.bytesWritten += result;
    }
  }

  #file(path: string, time: number): FileFacts | undefined {
    const known = this.byPath.get(path);
    if (known) return known;
    if (this.byPath.size >= MAX_FILES) {
      this.omitted++;
      return undefined;
    }
    const file: FileFacts = {
      path,
      reads: 0,
      writes: 0,
      deletes: 0,
      execs: 0,
      bytesRead: 0,
      bytesWritten: 0,
      failed: 0,
      temporary: false,
      first: time,
      last: time,
      by: new Set(),
    };
    this.byPath.set(path, file);
    return file;
  }
}

/** mkstemp(3) and mkdtemp(3), and what is made as they make it. */
export function makesTemporary({ name, args }: CallRecord): boolean {
  const isNew = typeof args.flags === "string" && args.flags.includes("O_EXCL");
  return isNew || (name.startsWith("mkdir") && args.mode === PRIVATE);
}

function kindOf(does: RecordedEffect["does"]): "reads" | "writes" | "deletes" | "execs" | undefined {
  switch (does[0]) {
    case "exec":
      return "execs";
    case "delete":
      return "deletes";
    case "rename":
      return does.includes("delete") ? "deletes" : does.includes("write") ? "writes" : undefined;
    case "read":
    case "list":
      return "reads";
    default:
      return does.includes("write") ? "writes" : undefined;
  }
}

export interface FolderFacts {
  readonly folder: string;
  files: number;
  read: number;
  written: number;
  deleted: number;
  bytesRead: number;
  bytesWritten: number;
}

/** What happened in each folder: how many of its files were read, written, deleted. */
export function byFolder(files: Iterable<FileFacts>): FolderFacts[] {
  const folders = new Map<string, FolderFacts>();
  for (const file of files) {
    if (file.reads + file.writes + file.deletes === 0) continue;
    const folder = file.path.slice(0, file.path.lastIndexOf("/")) || "/";
    let facts = folders.get(folder);
    if (!facts) {
      facts = { folder, files: 0, read: 0, written: 0, deleted: 0, bytesRead: 0, bytesWritten: 0 };
      folders.set(folder, facts);
    }
    facts.files++;
    if (file.reads > 0) facts.read++;
    if (file.writes > 0) facts.written++;
    if (file.deletes > 0) facts.deleted++;
    facts.bytesRead += file.bytesRead;
    facts.bytesWritten += file.bytesWritten;
  }
  return [...folders.values()].sort((a, b) => b.files - a.files || (a.folder < b.folder ? -1 : 1));
}
