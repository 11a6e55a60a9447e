import { counted } from "../../nouns/text.js";
import { EVENT_COLUMNS, PROCESS_COLUMNS } from "../../offline/query/columns.js";
import { TraceDatabase } from "../../offline/query/database.js";
import { csv, jsonLines, type Rows, table } from "../../offline/query/output.js";
import { usageError } from "../options/values.js";
import { print, say } from "../views/output.js";

interface Flags {
  csv?: boolean;
  json?: boolean;
  parquet?: string;
  columns?: boolean;
}

const PIECE = 64 * 1024;

/** SQL over the events of a trace. */
export async function queryCommand(
  trace: string | undefined,
  sql: string | undefined,
  flags: Flags,
): Promise<number> {
  if (flags.columns) {
    printColumns();
    return 0;
  }
  if (trace === undefined) throw usageError("query needs a trace: hermes query TRACE 'SELECT …'");
  if ([flags.csv, flags.json, flags.parquet].filter(Boolean).length > 1)
    throw usageError("--csv, --json and --parquet exclude each other");
  const database = await TraceDatabase.load(trace);
  try {
    const { columns, rows } = database.query(sql ?? "SELECT * FROM events");
    if (flags.parquet !== undefined) {
      const { writeParquet } = await import("../../offline/query/parquet.js");
      const count = await writeParquet(flags.parquet, columns, rows);
      say(`hermes: ${counted(count, "row")} in ${flags.parquet}\n`);
    } else printRows(flags.csv ? csv : flags.json ? jsonLines : table, columns, rows);
  } finally {
    database.close();
  }
  return 0;
}

function printRows(as: typeof csv, columns: readonly string[], rows: Rows): void {
  let piece = "";
  for (const text of as(columns, rows)) {
    piece += text;
    if (piece.length < PIECE) continue;
    print(piece);
    piece = "";
  }
  print(piece);
}

function printColumns(): void {
  for (const [name, columns] of [
    ["events", EVENT_COLUMNS],
    ["processes", PROCESS_COLUMNS],
  ] as const) {
    print(`${name}\n`);
    for (const column of columns)
      print(`  ${column.name.padEnd(10)}${column.type.padEnd(9)}${column.meaning}\n`);
  }
  print("calls: events of the kind syscall; denials: events that a policy refused\n");
}
