import { definePolicy, virtualTime } from "hermes-runtime";

/**
 * Shows the program another date and, if set, a faster or slower clock:
 *
 *   HERMES_DATE=2030-01-01   the date at the start: a date, a date and time, @seconds, +90d, -2h
 *   HERMES_SPEED=60          how many seconds its clocks advance per real second; 0: the wall clock stands still
 *
 * docs/reference/instructions.md lists what it does not change.
 */
export default definePolicy(virtualTime({ date: process.env.HERMES_DATE, speed: process.env.HERMES_SPEED }));
