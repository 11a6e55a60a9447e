import { LocalBackend } from "../../../src/tools/local.js";
import { keepsItsPromises } from "./suite.js";

keepsItsPromises("this machine", () => new LocalBackend());
