import { afterAll } from "vitest";
import { backendSection } from "../../../src/guard/config/backend.js";
import { OciBackend } from "../../../src/tools/oci/backend.js";
import { PodmanStore } from "./podman-store.js";
import { keepsItsPromises } from "./suite.js";

const store = new PodmanStore();
afterAll(() => store.remove());
const section = backendSection.parse({ kind: "oci", oci: { engine: "podman", image: store.image } });

keepsItsPromises("a container of podman", () => new OciBackend(section.oci));
