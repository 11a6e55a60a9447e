import { coarseTime, definePolicy } from "hermes-runtime";

/** No clock of the program is finer than a millisecond (or HERMES_STEP of them), the time stamp counter included. */
export default definePolicy(coarseTime({ milliseconds: process.env.HERMES_STEP }));
