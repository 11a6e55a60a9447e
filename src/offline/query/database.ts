import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type Database from "libsql";
import { HermesError } from "../../nouns/errors.js";
import { type ReadOptions, TraceReader } from "../../record/trace/reader.js";
import type { TraceRecord } from "../../record/trace/records.js";
import { RecordActors } from "../analyze/actors.js";
import type { TracedProcess } from "../analyze/processes.js";
import { type Cell, type Column, EVENT_COLUMNS, PROCESS_COLUMNS, rowOf } from "./columns.js";

/** Rows that one statement inserts: fewer statements cost less, and SQLite takes 32,766 values. */
const AT_ONCE = 50;

const VIEWS = `
CREATE VIEW calls AS SELECT * FROM events WHERE kind = 'syscall';
CREATE VIEW functions AS SELECT * FROM events WHERE kind = 'function';
CREATE VIEW denials AS SELECT * FROM events WHERE policy IS NOT NULL AND action IN ('deny', 'kill');
`;

/** A trace as tables of SQLite, in a file that has no name: however this ends, nothing is left of it. */
export class TraceDatabase {
  readonly #database: Database.Database;
  readonly #actors = new RecordActors();
  #events = 0;

  private constructor(database: Database.Database) {
    this.#database = database;
  }

  /** Reads a whole trace. Memory stays bounded: what does not fit into SQLite's cache is in the file. */
  static async load(file: string, options: ReadOptions = {}): Promise<TraceDatabase> {
    const made = new TraceDatabase(await openNameless());
    const reader = new TraceReader(file, options);
    made.#create();
    const insert = made.#inserter("events", EVENT_COLUMNS);
    for await (const records of reader.blocks()) for (const record of records) made.#add(record, insert);
    insert.flush();
    const processes = made.#inserter("processes", PROCESS_COLUMNS);
    for (const process of made.#actors.all) processes.add(processRow(process));
    processes.flush();
    made.#database.exec(`COMMIT; ${VIEWS} PRAGMA query_only = 1;`);
    return made;
  }

  get events(): number {
    return this.#events;
  }

  #create(): void {
    const columns = (of: readonly Column[]) =>
      of.map(({ name, type }) => `${name} ${type}${name === "id" ? " PRIMARY KEY" : ""}`).join(", ");
    this.#database.exec(`
      PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536;
      CREATE TABLE events (${columns(EVENT_COLUMNS)});
      CREATE TABLE processes (${columns(PROCESS_COLUMNS)});
      BEGIN;`);
  }

  #inserter(table: string, columns: readonly Column[]): Inserter {
    return new Inserter(this.#database, table, columns.length);
  }

  #add(record: TraceRecord, insert: Inserter): void {
    if (record.kind === "header") return;
    const actor = this.#actors.of(record);
    insert.add(rowOf(record, ++this.#events, actor && { id: actor.id + 1, pid: actor.pid }));
  }

  /** Names of the columns, and rows as they come. Throws QUERY when the statement is wrong. */
  query(sql: string): { columns: string[]; rows: Iterable<Cell[]> } {
    const failed = (error: unknown) =>
      new HermesError("QUERY", { message: (error as Error).message }, { cause: error });
    try {
      const statement = this.#database.prepare(sql);
      if (!statement.reader)
        throw new Error("it gives no rows: only SELECT, WITH, VALUES, EXPLAIN and PRAGMA do");
      const columns = statement.columns().map((column) => column.name);
      return { columns, rows: guarded(statement.raw().iterate([]) as Iterable<Cell[]>, failed) };
    } catch (error) {
      throw failed(error);
    }
  }

  close(): void {
    this.#database.close();
  }
}

function* guarded(rows: Iterable<Cell[]>, failed: (error: unknown) => HermesError): Generator<Cell[]> {
  try {
    yield* rows;
  } catch (error) {
    throw failed(error);
  }
}

/** Gathers rows and inserts many with one statement. */
class Inserter {
  readonly #database: Database.Database;
  readonly #table: string;
  readonly #columns: number;
  readonly #many: Database.Statement;
  #values: Cell[] = [];

  constructor(database: Database.Database, table: string, columns: number) {
    this.#database = database;
    this.#table = table;
    this.#columns = columns;
    this.#many = this.#prepare(AT_ONCE);
  }

  #prepare(rows: number): Database.Statement {
    const row = `(${Array(this.#columns).fill("?").join(",")})`;
    return this.#database.prepare(`INSERT INTO ${this.#table} VALUES ${Array(rows).fill(row).join(",")}`);
  }

  add(row: readonly Cell[]): void {
    this.#values.push(...row);
    if (this.#values.length < AT_ONCE * this.#columns) return;
    this.#many.run(this.#values);
    this.#values = [];
  }

  flush(): void {
    const rows = this.#values.length / this.#columns;
    if (rows > 0) this.#prepare(rows).run(this.#values);
    this.#values = [];
  }
}

function processRow(process: TracedProcess): Cell[] {
  const { id, pid, parent, exe, argv, started, ended, code, signal, threads } = process;
  return [
    id + 1,
    pid,
    parent === undefined ? null : parent.id + 1,
    exe === "" ? null : exe,
    JSON.stringify(argv),
    started ?? null,
    ended ?? null,
    code ?? null,
    signal ?? null,
    threads,
  ];
}

async function openNameless(): Promise<Database.Database> {
  const { default: Sqlite } = await import("libsql");
  const folder = mkdtempSync(join(tmpdir(), "hermes-query-"));
  try {
    return new Sqlite(join(folder, "trace.db"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
