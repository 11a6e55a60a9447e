import { afterAll, beforeAll } from "vitest";
import { SshBackend } from "../../../../src/agents/tools/ssh/backend.js";
import { Sshd } from "./sshd.js";
import { keepsItsPromises } from "./suite.js";

let sshd: Sshd;
beforeAll(async () => {
  sshd = await Sshd.start();
});
afterAll(() => sshd.remove());

keepsItsPromises("another machine", () => new SshBackend(sshd.section()));
