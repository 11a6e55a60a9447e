import { LocalBackend } from "../../../../src/agents/tools/local.js";
import { keepsItsPromises } from "./suite.js";

keepsItsPromises("this machine", () => new LocalBackend());
