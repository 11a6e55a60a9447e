import type { ConfigFile } from "../../intent/guard/config/schema.js";
import type { Thread } from "../../session/thread.js";
import type { Backend } from "./backend.js";

/** Where the configuration says that commands run. `thread` was started early, for commands on this machine. */
export async function backendOf({ backend }: Pick<ConfigFile, "backend">, thread?: Thread): Promise<Backend> {
  if (backend.kind !== "local") thread?.end();
  switch (backend.kind) {
    case "local":
      return new (await import("./local.js")).LocalBackend(thread);
    case "oci":
      return new (await import("./oci/backend.js")).OciBackend(backend.oci);
    case "ssh":
      return new (await import("./ssh/backend.js")).SshBackend(backend.ssh);
  }
}
