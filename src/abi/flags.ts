import { FLAGS } from "./flags.generated.js";

/** How the value of a flags argument reads. */
export interface FlagTable {
  /** "bits": names are or-ed together. "enum": the value is one of them. */
  readonly kind: "bits" | "enum";
  readonly values: Readonly<Record<string, number>>;
  /** For bits: the part of the value that is an enumeration of its own, e.g. 3 for open's access mode. */
  readonly enumMask?: number;
}

export function flagTable(name: string): FlagTable {
  const table = Object.hasOwn(FLAGS, name) ? FLAGS[name] : undefined;
  if (!table) throw new RangeError(`no flag table "${name}"`);
  return table;
}

/** The table that names a socket option of this level, where there is one: an optname alone says nothing. */
export function sockoptTable(level: number): FlagTable | undefined {
  const names: Record<number, string> = {
    0: "sockopt_ip",
    1: "sockopt",
    6: "sockopt_tcp",
    41: "sockopt_ipv6",
  };
  const name = names[level];
  return name === undefined ? undefined : flagTable(name);
}

/** "O_RDONLY|O_CLOEXEC"; bits and values without a name are in hex, as strace writes them. */
export function formatFlags(table: FlagTable | string, value: number | bigint): string {
  const { kind, values, enumMask = 0 } = typeof table === "string" ? flagTable(table) : table;
  if (kind === "enum") return nameOf(values, BigInt(value)) ?? number(value);
  // A register is unsigned; a number may come with its top bit read as a sign.
  let rest = typeof value === "number" && value < 0 ? BigInt(value >>> 0) : BigInt(value);
  const parts: string[] = [];
  const mask = BigInt(enumMask);
  if (mask !== 0n) {
    const choice = rest & mask;
    const name = nameOf(values, choice);
    if (name !== undefined) parts.push(name);
    else if (choice !== 0n) parts.push(number(choice));
    rest &= ~mask;
  }
  for (const [name, bits] of widestFirst(values)) {
    if ((bits & mask) !== 0n || bits === 0n || (rest & bits) !== bits) continue;
    parts.push(name);
    rest &= ~bits;
  }
  if (rest !== 0n) parts.push(number(rest));
  return parts.length > 0 ? parts.join("|") : (nameOf(values, 0n) ?? "0");
}

/** Programs use the same few values all day, and policies look at their names at every call. */
const MAX_KNOWN = 1024;
const known = new Map<string, Map<number, readonly string[]>>();

/** The names in a flags argument, one by one. */
export function flagNames(table: string, value: number): readonly string[] {
  const names = known.get(table) ?? new Map<number, readonly string[]>();
  if (names.size === 0) known.set(table, names);
  const found = names.get(value) ?? Object.freeze(formatFlags(table, value).split("|"));
  if (names.size < MAX_KNOWN) names.set(value, found);
  return found;
}

/** The number that "O_WRONLY|O_CREAT", "0x41" or 65 means. Names are read in any case. */
export function parseFlags(table: FlagTable | string, text: string | number): number {
  if (typeof text === "number") return text;
  const { kind, values } = typeof table === "string" ? flagTable(table) : table;
  const parts = text.split("|").map((part) => part.trim());
  if (kind === "enum" && parts.length > 1) throw new RangeError(`"${text}": one name expected, not several`);
  return Number(parts.reduce((sum, part) => sum | parsePart(values, part), 0n));
}

function parsePart(values: Readonly<Record<string, number>>, part: string): bigint {
  if (/^-?\d+$/.test(part) || /^0[xX][0-9a-fA-F]+$/.test(part)) return BigInt(part);
  if (/^0[oO][0-7]+$/.test(part)) return BigInt(part);
  const upper = part.toUpperCase();
  const name = Object.hasOwn(values, part)
    ? part
    : Object.keys(values).find((key) => key.toUpperCase() === upper);
  if (name === undefined) throw new RangeError(`unknown flag "${part}"`);
  return BigInt(values[name]!);
}

function nameOf(values: Readonly<Record<string, number>>, value: bigint): string | undefined {
  const signed = BigInt.asIntN(32, value);
  const entries = Object.entries(values);
  const exact = entries.find(([, number]) => BigInt(number) === value);
  return (exact ?? entries.find(([, number]) => number < 0 && BigInt(number) === signed))?.[0];
}

/** Names of several bits before those of one, so that O_SYNC is not read as O_DSYNC and a rest. */
function widestFirst(values: Readonly<Record<string, number>>): [string, bigint][] {
  const entries = Object.entries(values).map(([name, number]): [string, bigint] => [name, BigInt(number)]);
  const wide = entries.filter(([, bits]) => (bits & (bits - 1n)) !== 0n);
  return [
    ...wide.sort(([, a], [, b]) => bitCount(b) - bitCount(a)),
    ...entries.filter((entry) => !wide.includes(entry)),
  ];
}

function bitCount(bits: bigint): number {
  return bits.toString(2).replaceAll("0", "").length;
}

function number(value: number | bigint): string {
  return value < 0 ? String(value) : `0x${value.toString(16)}`;
}
