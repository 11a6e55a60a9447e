/** The agent's tools as a library: `hermes-runtime/tools`. docs/tools.md shows them in use. */

export type { Approver } from "../approval/approver.js";
export type { ApprovalItem } from "../approval/item.js";
export { Audit } from "../audit/audit.js";
export type { AuditBodies, AuditKind } from "../audit/records.js";
export { openStore } from "../store/open.js";
export type { Store } from "../store/store.js";
export type { Backend, Running, RunOrder, RunResult } from "./backend.js";
export { LocalBackend } from "./local.js";
export type { CallOptions, ToolboxOptions, ToolResult } from "./options.js";
export { Toolbox } from "./toolbox.js";
