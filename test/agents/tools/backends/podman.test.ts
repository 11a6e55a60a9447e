import { afterAll } from "vitest";
import { OciBackend } from "../../../../src/agents/tools/oci/backend.js";
import { backendSection } from "../../../../src/intent/guard/config/backend.js";
import { PodmanStore } from "./podman-store.js";
import { keepsItsPromises } from "./suite.js";

const store = new PodmanStore();
afterAll(() => store.remove());
const section = backendSection.parse({ kind: "oci", oci: { engine: "podman", image: store.image } });

keepsItsPromises("a container of podman", () => new OciBackend(section.oci));
