/** What bench/fleet.mjs uses of the program and of its tests, as one module. */
export { Desk } from "../src/approval/desk.js";
export { verifyAll } from "../src/audit/verify.js";
export { enroll, hosts } from "../src/fleet/hosts.js";
export { LIMITS, push } from "../src/fleet/releases.js";
export { openStore } from "../src/store/open.js";
export { as, host, place, until } from "../test/fleet/support.js";
export { PostgresServer } from "../test/store/postgres-server.js";
