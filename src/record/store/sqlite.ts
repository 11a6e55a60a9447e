import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type Database from "libsql";
import { HermesError } from "../../nouns/errors.js";
import type { SqlEngine } from "./engine.js";
import { type Operation, restored, type SqlRow, type Statement, storable } from "./sql.js";

/** So long SQLite itself waits for a lock, and nothing else happens in this thread; after that we wait beside it. */
const WAIT = 10;
const PATIENCE = 60_000;
/** How often another process's changes are looked for. */
const LOOK = 100;
/** Operations of one transaction: enough to share a sync, few enough to let others in. */
const TOGETHER = 256;

interface Job {
  readonly operation: () => Operation<unknown>;
  readonly about: "approvals" | undefined;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * One file, used by any number of processes. Writes that come together share one transaction and so one sync; each has
 * a savepoint of its own, so that a failure does not undo the others.
 */
export class SqliteEngine implements SqlEngine {
  readonly dialect = "sqlite";
  readonly name: string;
  readonly beside: string;
  readonly #database: Database.Database;
  readonly #inode: bigint;
  readonly #statements = new Map<string, Database.Statement>();
  readonly #listeners = new Set<() => void>();
  #jobs: Job[] = [];
  #writing: Promise<void> | undefined;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;

  private constructor(file: string, database: Database.Database) {
    this.name = file;
    this.beside = file;
    this.#database = database;
    this.#inode = inodeOf(file)!;
  }

  static async open(path: string): Promise<SqliteEngine> {
    const file = resolve(path);
    makeFile(file);
    const { default: Sqlite } = await import("libsql");
    const engine = new SqliteEngine(file, new Sqlite(file));
    try {
      engine.#database.exec(`PRAGMA busy_timeout = ${WAIT}`);
      const mode = await patiently(() => engine.#value("PRAGMA journal_mode = WAL"));
      if (mode !== "wal") throw new Error("its file system cannot share memory between processes (WAL)");
      // FULL: a commit is on disk before it is acknowledged. NORMAL would lose the last ones with the power.
      engine.#database.exec("PRAGMA synchronous = FULL; PRAGMA trusted_schema = 0");
      engine.#bound();
    } catch (error) {
      engine.#database.close();
      throw error;
    }
    return engine;
  }

  /** A store that may grow to so many bytes: what comes then is refused, as on a full disk. */
  #bound(): void {
    const limit = readLimit(this.name);
    if (limit === undefined) return;
    const pages = Math.max(1, Math.floor(limit / Number(this.#value("PRAGMA page_size"))));
    this.#database.exec(`PRAGMA max_page_count = ${pages}`);
  }

  read<T>(operation: () => Operation<T>): Promise<T> {
    return patiently(() => {
      this.#mustBeOpen();
      return this.#perform(operation());
    });
  }

  write<T>(operation: () => Operation<T>, about?: "approvals"): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#mustBeOpen();
      this.#jobs.push({ operation, about, resolve: resolve as Job["resolve"], reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /** What comes in one turn of the loop is written together. */
  async #writeAll(): Promise<void> {
    await new Promise(setImmediate);
    while (this.#jobs.length > 0) {
      const jobs = this.#jobs.splice(0, TOGETHER);
      try {
        const settle = await patiently(() => this.#transaction(jobs));
        for (const done of settle) done();
        if (jobs.some(({ about }) => about === "approvals")) this.#tell();
      } catch (error) {
        for (const job of jobs) job.reject(error);
      }
      await new Promise(setImmediate);
    }
    this.#writing = undefined;
  }

  /** All of them, and how each is to be settled once they are on disk. */
  #transaction(jobs: readonly Job[]): (() => void)[] {
    // SQLite would go on writing to a file that has no name any more.
    if (inodeOf(this.name) !== this.#inode)
      throw new Error("its file was removed or replaced while it was in use; start anew");
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const settle = jobs.map((job) => this.#inside(job));
      this.#database.exec("COMMIT");
      return settle;
    } catch (error) {
      // A full disk has rolled back already.
      if (this.#database.inTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  #inside({ operation, resolve, reject }: Job): () => void {
    this.#database.exec("SAVEPOINT job");
    try {
      const value = this.#perform(operation());
      this.#database.exec("RELEASE job");
      return () => resolve(value);
    } catch (error) {
      if (!this.#database.inTransaction || isBusy(error)) throw error;
      this.#database.exec("ROLLBACK TO job; RELEASE job");
      return () => reject(error);
    }
  }

  #perform<T>(operation: Operation<T>): T {
    let step = operation.next();
    while (!step.done) step = operation.next(this.#rows(step.value));
    return step.value;
  }

  #rows(statement: Statement): SqlRow[] {
    const text = statement.text("sqlite");
    let prepared = this.#statements.get(text);
    if (!prepared) {
      prepared = this.#database.prepare(text);
      this.#statements.set(text, prepared);
    }
    const values = statement.values.map(storable);
    if (prepared.reader) return (prepared.all(values) as SqlRow[]).map(restored);
    prepared.run(values);
    return [];
  }

  /** Our own changes at once, those of others when SQLite's counter of them has moved. */
  onApprovals(changed: () => void): () => void {
    const listener = () => changed();
    this.#listeners.add(listener);
    let seen = this.#version();
    this.#timer ??= setInterval(() => {
      const version = this.#version();
      if (version === seen) return;
      seen = version;
      this.#tell();
    }, LOOK);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stopLooking();
    };
  }

  /** Undefined while another process is just putting the file in order: the next look will tell. */
  #version(): unknown {
    try {
      return this.#value("PRAGMA data_version");
    } catch {
      return undefined;
    }
  }

  #value(text: string): unknown {
    return Object.values((this.#database.prepare(text).all([]) as SqlRow[])[0] ?? {})[0];
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  #stopLooking(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#listeners.clear();
    this.#stopLooking();
    await this.#writing;
    this.#statements.clear();
    try {
      // So that one file is left. It is not needed, and others may be at work.
      this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {}
    // libsql lets go of the file when its statements have been collected as garbage.
    this.#database.close();
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new HermesError("STORE", { store: this.name, message: "it is closed" });
  }
}

/**
 * Only for us, before anything is in it. An existing file is not opened here: SQLite's locks belong to the process, and
 * closing any descriptor of the file would drop those that another connection in this process has.
 */
function makeFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    const { mode, uid } = statSync(file);
    if ((mode & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(file, 0o600);
  }
}

/** Written beside it (`hermes fleet daemon --spool`), and looked at when it is opened. */
function readLimit(file: string): number | undefined {
  try {
    return Number(readFileSync(`${file}.limit`, "utf8")) || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function inodeOf(file: string): bigint | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false })?.ino;
}

/** Other processes hold the lock for as long as a sync takes: retry a moment later. */
async function patiently<T>(act: () => T): Promise<T> {
  for (const start = performance.now(); ; ) {
    try {
      return act();
    } catch (error) {
      if (!isBusy(error) || performance.now() - start > PATIENCE) throw error;
    }
    await sleep(1 + Math.random() * 20);
  }
}

function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(String((error as { code?: unknown }).code));
}
