/**
 * The memory that a program's threads write their records to, and we read: one lane for each thread, at whose start the
 * thread's gs register points. A thread has its lane for itself, so that it needs no lock; only a signal handler may come
 * between, and every step is one that it can come between.
 */
export const LANE = {
  /** How many records were begun, ever; written by the thread. */
  head: 0,
  /** How many of them were read, ever; written by us. */
  tail: 64,
  /** Calls that found no room for a record. */
  lost: 128,
  /** One counter for each observed function. */
  counts: 4096,
  records: 4096 + 8 * 8192,
  size: 4096 + 8 * 8192 + 64 * 8192,
} as const;

export const MAX_FUNCTIONS = 8192;
export const RECORDS = 8192;
/** So many records are kept free for returns: those of calls that are on their way must find room. */
export const MARGIN = 256;
export const MAX_LANES = 512;

/**
 * A record, 64 bytes. `commit` is written last: the low half of the record's number plus one. Whatever else stands there
 * is a record that is still being written, or one of an earlier round.
 */
export const RECORD = {
  size: 64,
  commit: 0,
  /** What it is about: the low half a number, the high half one of KIND and the site. */
  subject: 4,
  site: 6,
  time: 8,
  /** A call's arguments, or the result. */
  values: 16,
} as const;

/** The high bit of `site` tells a return from a call; functions have the highest site. */
export const RETURN = 0x8000;
export const FUNCTION = 0x7fff;
export const MAX_SITES = 0x7fff;
