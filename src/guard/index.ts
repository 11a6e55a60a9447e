/** The guard as a library: `hermes-runtime/guard`. docs/guard.md shows it in use. */
export { approvalKeys } from "./command/rules.js";
export type { Action, Finding, Span } from "./finding.js";
export { Guard, type GuardOptions, type Judgement } from "./guard.js";
export { configuredGuard, type HostOptions, hostGuard } from "./host.js";
export type { Context, Files, Layer, Profile } from "./layer.js";
export { LAYERS } from "./layers.js";
export { KINDS, type Kind, type Subject } from "./subject.js";
