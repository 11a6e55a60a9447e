import { PatternError } from "./glob.js";

/**
 * Hours of the day, on certain days: `09:00-17:00`, `mon-fri 22:00-06:00`, `sat,sun`, each optionally
 * followed by ` UTC`.
 */
export type TimeWindow = (seconds: number) => boolean;

const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const SHAPE = /^(?:([a-z,-]+)\s*)?(?:(\d{1,2}:\d{2})\s*-\s*(\d{1,2}:\d{2}))?\s*(UTC)?$/;

export function compileTime(text: string): TimeWindow {
  const [whole, days, from, to, utc] = SHAPE.exec(text.trim()) ?? [];
  if (!whole)
    throw new PatternError(`"${text}" is not a time: write 09:00-17:00, mon-fri, or mon-fri 09:00-17:00`);
  const onDays = days === undefined ? undefined : daySet(text, days);
  const start = from === undefined ? 0 : minutes(text, from);
  const end = to === undefined ? 24 * 60 : minutes(text, to);
  return (seconds) => {
    const date = new Date(seconds * 1000);
    const day = utc ? date.getUTCDay() : date.getDay();
    const minute = utc
      ? date.getUTCHours() * 60 + date.getUTCMinutes()
      : date.getHours() * 60 + date.getMinutes();
    if (start < end) return minute >= start && minute < end && (onDays?.has(day) ?? true);
    // After midnight the window still belongs to the day on which it began.
    if (minute >= start) return onDays?.has(day) ?? true;
    return minute < end && (onDays?.has((day + 6) % 7) ?? true);
  };
}

function minutes(text: string, clock: string): number {
  const [hour, minute] = clock.split(":").map(Number) as [number, number];
  if (hour > 24 || minute > 59 || (hour === 24 && minute > 0))
    throw new PatternError(`"${text}": there is no time ${clock}`);
  return hour * 60 + minute;
}

function daySet(text: string, days: string): Set<number> {
  const set = new Set<number>();
  for (const part of days.split(",")) {
    const [from, to = from] = part.split("-").map((day) => DAYS.indexOf(day));
    if (from === undefined || from < 0 || to === undefined || to < 0)
      throw new PatternError(`"${text}": "${part}" is not a day (${DAYS.join(", ")})`);
    for (let day = from; ; day = (day + 1) % 7) {
      set.add(day);
      if (day === to) break;
    }
  }
  return set;
}
