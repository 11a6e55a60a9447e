import { coarseTime, definePolicy } from "hermes-runtime";

/**
 * The program's clocks, the time stamp counter included, tick in steps of a millisecond (or of HERMES_STEP
 * milliseconds).
 */
export default definePolicy(coarseTime({ milliseconds: process.env.HERMES_STEP }));
