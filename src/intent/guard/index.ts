/** The guard as a library: `hermes-runtime/guard`. docs/reference/guard.md shows it in use. */
export { approvalKeys } from "./command/rules.js";
export { loadConfig, type Places, projectFile, userFile } from "./config/load.js";
export {
  baselineEnv,
  type EnvOptions,
  type FilteredEnv,
  filterEnv,
  type Withheld,
} from "./credentials/env.js";
export { type CredentialFile, CredentialFiles } from "./credentials/registry.js";
export { findSecrets, redact, type Secret } from "./credentials/secrets.js";
export { MAX_READ_CHARS, type Page, readPage, type Window } from "./files/read-limit.js";
export { FileTracker, type Limits, RE_READ, type Stamp, type Warning } from "./files/tracker.js";
export type { Action, Finding, Span } from "./finding.js";
export { Guard, type GuardOptions, type Judgement } from "./guard.js";
export { configuredGuard, type HostOptions, hostGuard, validateWithinDir } from "./host.js";
export type { Context, Files, Layer, Profile } from "./layer.js";
export { LAYERS } from "./layers.js";
export { hasTraversalComponent } from "./paths/components.js";
export { KINDS, type Kind, type Subject } from "./subject.js";
