import { definePolicy } from "hermes-runtime";

/** Declares no actions, so these go through the trace door; beside every-call.ts the others go through notify. */
export default definePolicy({
  name: "files-by-trace",
  on: { "%file"() {}, "%process"() {}, "%signal"() {}, read() {}, close() {} },
});
