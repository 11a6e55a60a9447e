import { HermesError } from "../../nouns/errors.js";
import type { Cell } from "./columns.js";
import type { Rows } from "./output.js";

/** Rows that are encoded together; they are what is held in memory. */
const GROUP = 100_000;

type Kind = "INT64" | "DOUBLE" | "STRING";

/** Writes rows as a Parquet file and says how many they were. Types are those of the first group's values. */
export async function writeParquet(
  file: string,
  columns: readonly string[],
  rows: Rows | AsyncIterable<readonly Cell[]>,
): Promise<number> {
  const { ParquetWriter, fileWriter, schemaFromColumnData } = await import("hyparquet-writer");
  let kinds: Kind[] | undefined;
  let writer: InstanceType<typeof ParquetWriter> | undefined;
  let count = 0;
  const write = async (group: Cell[][]) => {
    kinds ??= columns.map((_, i) => kindOf(group[i]!));
    const columnData = columns.map((name, i) => ({
      name,
      data: group[i]!.map((cell) => converted(cell, kinds![i]!, name)),
      type: kinds![i]!,
      nullable: true,
    }));
    writer ??= new ParquetWriter({
      writer: fileWriter(file),
      schema: schemaFromColumnData({ columnData }),
    });
    await writer.write({ columnData, rowGroupSize: GROUP });
  };
  let group: Cell[][] = columns.map(() => []);
  try {
    for await (const row of rows) {
      for (const [i, cell] of row.entries()) group[i]!.push(cell);
      if (++count % GROUP !== 0) continue;
      await write(group);
      group = columns.map(() => []);
    }
    if (count % GROUP !== 0 || count === 0) await write(group);
    await writer!.finish();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (cause instanceof HermesError || code === undefined) throw cause;
    throw new HermesError("OUTPUT", { file, errno: code }, { cause });
  }
  return count;
}

function kindOf(cells: readonly Cell[]): Kind {
  const some = cells.filter((cell) => cell !== null);
  if (some.length === 0 || some.some((cell) => typeof cell === "string")) return "STRING";
  return some.every(Number.isSafeInteger) ? "INT64" : "DOUBLE";
}

function converted(cell: Cell, kind: Kind, column: string): string | number | bigint | null {
  if (cell === null) return null;
  if (kind === "STRING") return String(cell);
  if (typeof cell === "number") return kind === "INT64" && Number.isSafeInteger(cell) ? BigInt(cell) : cell;
  throw new HermesError("QUERY", {
    message: `column ${column} holds numbers and then the text "${cell}": CAST it`,
  });
}
