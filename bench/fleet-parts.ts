/** The parts of HERMES and its tests that bench/fleet.mjs uses, as one module. */

export { enroll, hosts } from "../src/fleet/hosts.js";
export { push, ROLLBACK_LIMITS } from "../src/fleet/releases.js";
export { AnswerService } from "../src/people/approval/answer-service.js";
export { verifyAll } from "../src/record/audit/verify.js";
export { openStore } from "../src/record/store/open.js";
export { as, host, place } from "../test/fleet/support.js";
export { PostgresServer } from "../test/record/store/postgres-server.js";
export { until } from "../test/support/until.js";
