/** What bench/console.mjs uses of the program, as one module. */
export { Audit } from "../src/audit/audit.js";
export { openStore } from "../src/store/open.js";
