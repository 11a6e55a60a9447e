import type { ConfigFile } from "../guard/config/schema.js";
import type { Backend } from "./backend.js";
import { LocalBackend } from "./local.js";
import { OciBackend } from "./oci/backend.js";
import { SshBackend } from "./ssh/backend.js";

/** Where the configuration says that commands run. */
export function backendOf({ backend }: Pick<ConfigFile, "backend">): Backend {
  switch (backend.kind) {
    case "local":
      return new LocalBackend();
    case "oci":
      return new OciBackend(backend.oci);
    case "ssh":
      return new SshBackend(backend.ssh);
  }
}
