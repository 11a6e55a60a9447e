import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import * as z from "zod";
import { HermesError } from "../../nouns/errors.js";
import type { AuditRow } from "../store/store.js";

export const AUDIT_COLUMNS = [
  "chain",
  "seq",
  "time",
  "session",
  "kind",
  "body",
  "previous",
  "hash",
  "signature",
] as const satisfies readonly (keyof AuditRow)[];

/** One line of JSON: everything that the hash is made of, the body as the text that it is. */
export function jsonLine(row: AuditRow): string {
  return `${JSON.stringify(Object.fromEntries(AUDIT_COLUMNS.map((name) => [name, row[name]])))}\n`;
}

export const csvHeader = `${AUDIT_COLUMNS.join(",")}\n`;

/** RFC 4180. A cell that a spreadsheet would take for a formula begins with an apostrophe. */
export function csvLine(row: AuditRow): string {
  return `${AUDIT_COLUMNS.map((name) => cell(row[name])).join(",")}\n`;
}

function cell(value: string | number | null): string {
  const text = String(value ?? "").replace(/^[=+\-@\t\r]/, "'$&");
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const rowSchema: z.ZodType<AuditRow> = z.strictObject({
  chain: z.string(),
  seq: z.int(),
  time: z.int(),
  session: z.string().nullable(),
  kind: z.string(),
  body: z.string(),
  previous: z.string(),
  hash: z.string(),
  signature: z.string().nullable(),
});

/** The records of an exported file; `-` is stdin. */
export async function* readExport(file: string): AsyncGenerator<AuditRow> {
  const input = file === "-" ? process.stdin : createReadStream(file);
  let number = 0;
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number++;
      if (line !== "") yield rowSchema.parse(JSON.parse(line));
    }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const text = code ? message : `line ${number} is no record of an export`;
    throw new HermesError("AUDIT", { message: `${file}: ${text}` }, { cause });
  }
}
