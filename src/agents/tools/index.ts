/** The agent's tools as a library: `hermes-runtime/tools`. docs/reference/tools.md shows them in use. */

export type { ApprovalItem } from "../../people/approval/approval-item.js";
export type { Approver } from "../../people/approval/approver.js";
export { Audit } from "../../record/audit/audit.js";
export type { AuditBodies, AuditKind } from "../../record/audit/records.js";
export { openStore } from "../../record/store/open.js";
export type { Store } from "../../record/store/store.js";
export type { Backend, Running, RunOrder, RunResult } from "./backend.js";
export { LocalBackend } from "./local.js";
export type { CallOptions, ToolboxOptions, ToolResult } from "./options.js";
export { Toolbox } from "./toolbox.js";
