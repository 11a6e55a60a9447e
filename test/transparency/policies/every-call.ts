import { definePolicy } from "hermes-runtime";

/** Stops at every call and lets it happen. */
export default definePolicy({ name: "every-call", actions: ["deny"], on: { "*"() {} } });
