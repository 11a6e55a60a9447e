/** The parts of HERMES that bench/console.mjs uses, as one module. */
export { Audit } from "../src/record/audit/audit.js";
export { openStore } from "../src/record/store/open.js";
