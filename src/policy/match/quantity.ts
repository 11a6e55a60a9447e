import { PatternError } from "./glob.js";

const SIZES: Readonly<Record<string, bigint>> = {
  "": 1n,
  B: 1n,
  K: 1024n,
  KB: 1024n,
  KIB: 1024n,
  M: 1024n ** 2n,
  MB: 1024n ** 2n,
  MIB: 1024n ** 2n,
  G: 1024n ** 3n,
  GB: 1024n ** 3n,
  GIB: 1024n ** 3n,
  T: 1024n ** 4n,
  TB: 1024n ** 4n,
  TIB: 1024n ** 4n,
};

/** `100`, `-1`, `0x40`, `0o644`, `64KB`, `1 MB`: units are powers of 1024. Undefined when it is no number. */
export function parseSize(text: string): bigint | undefined {
  if (/^-?0[xX][0-9a-fA-F]+$/.test(text) || /^0[oO][0-7]+$/.test(text))
    return text.startsWith("-") ? -BigInt(text.slice(1)) : BigInt(text);
  const match = /^(-?\d{1,18})\s*([a-zA-Z]*)$/.exec(text);
  const unit = match && SIZES[match[2]!.toUpperCase()];
  return unit === undefined || !match ? undefined : BigInt(match[1]!) * (unit as bigint);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 };

/** Milliseconds of `20`, `20ms`, `1.5s`, `2m`. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/.exec(text);
  const unit = match ? UNITS[match[2] || "ms"] : undefined;
  if (!match || unit === undefined)
    throw new PatternError(`"${text}" is not a duration: write 20ms, 1.5s or 2m`);
  return Number(match[1]) * unit;
}
