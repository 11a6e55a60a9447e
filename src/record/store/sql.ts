/** SQL that both engines understand, with its values beside it: `sql\`SELECT … WHERE id = ${id}\``. */

export type SqlDialect = "sqlite" | "postgres";
type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

export class Statement {
  readonly parts: readonly string[];
  readonly values: readonly SqlValue[];

  constructor(parts: readonly string[], values: readonly SqlValue[]) {
    this.parts = parts;
    this.values = values;
  }

  /** With a mark where each value goes: `?`, or `$1`, `$2` … */
  text(dialect: SqlDialect): string {
    return this.parts.reduce((text, part, i) => text + (dialect === "sqlite" ? "?" : `$${i}`) + part);
  }
}

/** Values become parameters, statements become part of the text. */
export function sql(strings: readonly string[], ...inside: readonly (SqlValue | Statement)[]): Statement {
  const parts = [strings[0]!];
  const values: SqlValue[] = [];
  inside.forEach((value, i) => {
    if (value instanceof Statement) {
      parts[parts.length - 1] += value.parts[0]!;
      parts.push(...value.parts.slice(1));
      values.push(...value.values);
      parts[parts.length - 1] += strings[i + 1]!;
    } else {
      values.push(value);
      parts.push(strings[i + 1]!);
    }
  });
  return new Statement(parts, values);
}

export function raw(text: string): Statement {
  return new Statement([text], []);
}

/** `… AND …`, true when there is nothing. */
export function allOf(conditions: readonly (Statement | false | undefined)[]): Statement {
  const given = conditions.filter((condition) => condition instanceof Statement);
  return given.length === 0 ? raw("1 = 1") : given.reduce((a, b) => sql`${a} AND ${b}`);
}

/** `column IN (…)`, false when there is nothing to be in. */
export function inList(column: string, values: readonly string[]): Statement {
  if (values.length === 0) return raw("1 = 0");
  const list = values.map((value) => sql`${value}`).reduce((a, b) => sql`${a}, ${b}`);
  return sql`${raw(column)} IN (${list})`;
}

/**
 * One operation, written once for both engines: it yields statements, gets their rows, and returns what it is for.
 * Everything that it does happens in one transaction. It may be run again from its start when that had to be given up.
 */
export type Operation<T> = Generator<Statement, T, readonly SqlRow[]>;

/** PostgreSQL takes no NUL in a text and libsql ends at one; neither keeps lone surrogates. This sign precedes their numbers. */
const SIGN = "\ufdd0";
const UNSTORABLE = /[\0\ufdd0]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export function storable(value: SqlValue): SqlValue {
  if (typeof value !== "string") return value;
  return value.replace(UNSTORABLE, (sign) => SIGN + sign.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** As it was before `storable`. */
export function restored(row: SqlRow): SqlRow {
  if (!Object.values(row).some((value) => typeof value === "string" && value.includes(SIGN))) return row;
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === "string" ? original(value) : value]),
  );
}

function original(text: string): string {
  return text.replace(/\ufdd0([0-9a-f]{4})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
