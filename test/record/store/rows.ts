import { hashOf } from "../../../src/record/audit/chain.js";
import type { NewApproval, NewSession, NewToolCall, Seal } from "../../../src/record/store/store.js";

/** Rows to try stores with. */

export const seal: Seal = (row) => ({ hash: hashOf(row), signature: null });

export const session = (id: string): NewSession => ({
  id,
  started: 1_700_000_000_000,
  host: "here",
  pid: 4711,
  pidStarted: 99,
  workspace: "/work",
  agent: "test",
});

export const call = (id: string, more: Partial<NewToolCall> = {}): NewToolCall => ({
  id,
  session: "s1",
  tool: "terminal_exec",
  input: '{"command":"ls"}',
  digest: "d",
  created: 1_700_000_000_001,
  status: "PENDING",
  ...more,
});

export const question = (id: string, more: Partial<NewApproval> = {}): NewApproval => ({
  id,
  kind: "TOOL_CALL",
  session: "s1",
  toolCall: null,
  created: 1_700_000_000_002,
  expires: 1_700_000_060_000,
  digest: "d",
  keys: '["recursive delete"]',
  what: "rm -r build",
  detail: "{}",
  ...more,
});
