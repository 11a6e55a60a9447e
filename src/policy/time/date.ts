import { HermesError } from "../../nouns/errors.js";

const UNITS: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
  y: 31_556_952,
};

function invalid(message: string): HermesError {
  return new HermesError("POLICY_INVALID", { file: "virtual-time", message });
}

/** Seconds since 1970 of a date, a date and time, @seconds, or +90d and -2h from `now`. */
export function parseDate(text: string, now: number): number {
  const relative = /^([+-])(\d+(?:\.\d+)?)([smhdwy])$/.exec(text);
  const seconds = /^@-?\d+(\.\d+)?$/.test(text)
    ? Number(text.slice(1))
    : relative
      ? now + Number(`${relative[1]}${relative[2]}`) * UNITS[relative[3]!]!
      : text === "now"
        ? now
        : Date.parse(text) / 1000;
  if (!Number.isFinite(seconds))
    throw invalid(
      `"${text}" is not a date: write 2030-01-01, 2030-01-01T12:00:00Z, @1893456000 (seconds since 1970), +90d or -2h`,
    );
  if (seconds < 0 || seconds > 9e9) throw invalid(`"${text}" is outside the range of clocks (1970 to 2255)`);
  return seconds;
}

/** The speed of a clock that stands still. */
export const FROZEN = 0;

export function parseSpeed(text: string): number {
  if (text === "0" || text === "frozen") return FROZEN;
  const speed = Number(text);
  if (text.trim() === "" || !(speed >= 0.001 && speed <= 100_000))
    throw invalid(
      `"${text}" is not a speed: write how many seconds pass in one real second, from 0.001 to 100000, or 0 for a clock that stands still`,
    );
  return speed;
}
