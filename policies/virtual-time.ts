import { definePolicy, virtualTime } from "hermes-runtime";

/**
 * A program believes that it is another date, and if asked that its time goes faster or slower:
 *
 *   HERMES_DATE=2030-01-01   what its clocks show at the start: a date, a date and time, @seconds, +90d, -2h
 *   HERMES_SPEED=60          how many of its seconds pass in one of ours
 *
 * What it does not change is told in docs/instructions.md.
 */
export default definePolicy(virtualTime({ date: process.env.HERMES_DATE, speed: process.env.HERMES_SPEED }));
