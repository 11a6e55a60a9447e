import { literally } from "../../nouns/allowance.js";
import { entryAgainst as entryAgainstCommand } from "./command/allowed.js";
import type { AllowEntry } from "./config/allow.js";
import { want } from "./files/access.js";
import type { Finding } from "./finding.js";
import type { Subject } from "./subject.js";

/** The narrowest entry of `allow:` that would lift a finding; undefined where none does. */
export function entryAgainst(finding: Finding, subject: Subject): AllowEntry | undefined {
  const { layer, about } = finding;
  if (layer === "command" && subject.kind === "command") return entryAgainstCommand(finding, subject.input);
  if (about === undefined) return undefined;
  if (layer === "urls") return { connect: about };
  const isRead = want(subject.fields?.access) === "read";
  return layer === "files" || layer === "paths"
    ? { [isRead ? "read" : "write"]: literally(about) }
    : undefined;
}
