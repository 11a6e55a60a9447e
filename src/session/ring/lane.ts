/**
 * The shared memory to which a program's threads write records: one lane for each thread, at the thread's gs
 * base. A lane has one writer, so it needs no lock. Only a signal handler can interrupt the writer, and every
 * step tolerates that.
 */
export const LANE = {
  /** How many records were begun in total; written by the thread. */
  head: 0,
  /** How many of them were read in total; written by us. */
  tail: 64,
  /** Calls without room for a record. */
  lost: 128,
  /** One counter for each observed function. */
  counts: 4096,
  records: 4096 + 8 * 8192,
  size: 4096 + 8 * 8192 + 64 * 8192,
} as const;

export const MAX_FUNCTIONS = 8192;
export const RECORDS = 8192;
/** Records reserved for returns: the returns of pending calls must find room. */
export const MARGIN = 256;
export const MAX_LANES = 512;

/**
 * A record of 64 bytes. `commit` is written last: the low half of the record's number plus one. Any other
 * value marks an unfinished record, or one of an earlier round.
 */
export const RECORD = {
  size: 64,
  commit: 0,
  /** The subject: a number in the low half; KIND or the site in the high half. */
  subject: 4,
  site: 6,
  time: 8,
  /** A call's arguments, or the result. */
  values: 16,
} as const;

/** The high bit of `site` marks a return; functions use the highest site. */
export const RETURN_BIT = 0x8000;
export const FUNCTION_SITE = 0x7fff;
export const MAX_SITES = 0x7fff;
