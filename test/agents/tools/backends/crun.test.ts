import { afterAll } from "vitest";
import { OciBackend } from "../../../../src/agents/tools/oci/backend.js";
import { backendSection } from "../../../../src/intent/guard/config/backend.js";
import { BusyboxRoot } from "./image.js";
import { keepsItsPromises } from "./suite.js";

const root = new BusyboxRoot();
afterAll(() => root.remove());
const section = backendSection.parse({ kind: "oci", oci: { engine: "crun", rootfs: root.path } });

keepsItsPromises("a container of crun", () => new OciBackend(section.oci));
