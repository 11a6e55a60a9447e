import { seccompProfile } from "../../abi/seccomp-profile.js";
import { HermesError } from "../../nouns/errors.js";
import type { TraceRecord } from "../../record/trace/records.js";
import type { Exporter } from "./exporter.js";

/** A seccomp profile for OCI runtimes (docker, podman, runc): the calls that a trace shows, and no others. */
export class SeccompExporter implements Exporter {
  readonly #names = new Set<string>();

  add(record: TraceRecord): string {
    if (record.kind === "header" && record.events)
      throw new HermesError("EVENTS", {
        file: "--to seccomp",
        message: `this trace holds only ${record.events.slice(0, 5).join(", ")}${record.events.length > 5 ? " …" : ""}: a profile of it would refuse all else; record a run without --events`,
      });
    const refused = record.kind === "syscall" && (record.action === "deny" || record.action === "kill");
    if (record.kind === "syscall" && !refused) this.#names.add(record.name);
    return "";
  }

  end(): string {
    return seccompProfile(this.#names);
  }
}
