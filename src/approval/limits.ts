/** So many may wait at once, and so many may be asked in a minute, in one session: whoever floods a person gets a no. */
export const MAX_OPEN = 16;
export const MAX_PER_MINUTE = 40;
export const MINUTE = 60_000;
/** Nobody reads more before answering, and nothing of a question is left out: what is longer is refused. */
export const LONGEST_QUESTION = 16_000;
