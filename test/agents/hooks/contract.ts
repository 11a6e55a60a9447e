import * as z from "zod";

/**
 * What each agent takes as an answer, as its documentation and schemas have it. Stricter than the agents where they would
 * go on after an answer that they do not understand.
 */
const reason = z.string().trim().min(1);
const input = z.record(z.string(), z.unknown());

const permissionRequest = z.strictObject({
  hookSpecificOutput: z.strictObject({
    hookEventName: z.literal("PermissionRequest"),
    decision: z.strictObject({ behavior: z.literal("deny"), message: reason }),
  }),
});

const claudeCode = {
  PreToolUse: z.strictObject({
    hookSpecificOutput: z.union([
      z.strictObject({
        hookEventName: z.literal("PreToolUse"),
        permissionDecision: z.enum(["allow", "deny", "ask"]),
        permissionDecisionReason: reason,
        updatedInput: input.optional(),
      }),
      // Without a decision: the user's own permissions decide on the new input.
      z.strictObject({ hookEventName: z.literal("PreToolUse"), updatedInput: input }),
    ]),
  }),
  PermissionRequest: permissionRequest,
  PostToolUse: z.strictObject({
    decision: z.literal("block").optional(),
    reason: reason.optional(),
    hookSpecificOutput: z.strictObject({
      hookEventName: z.literal("PostToolUse"),
      additionalContext: z.string(),
      updatedToolOutput: z.unknown().optional(),
    }),
  }),
};

/** `ask`, a bare `allow` and an input without `allow` are errors to Codex, and after an error the tool runs. */
const codex = {
  PreToolUse: z.strictObject({
    hookSpecificOutput: z.discriminatedUnion("permissionDecision", [
      z.strictObject({
        hookEventName: z.literal("PreToolUse"),
        permissionDecision: z.literal("allow"),
        updatedInput: input,
      }),
      z.strictObject({
        hookEventName: z.literal("PreToolUse"),
        permissionDecision: z.literal("deny"),
        permissionDecisionReason: reason,
      }),
    ]),
  }),
  PermissionRequest: permissionRequest,
  PostToolUse: z.union([
    z.strictObject({ decision: z.literal("block"), reason }),
    z.strictObject({
      hookSpecificOutput: z.strictObject({
        hookEventName: z.literal("PostToolUse"),
        additionalContext: reason,
      }),
    }),
  ]),
};

const gemini = {
  BeforeTool: z.discriminatedUnion("decision", [
    z.strictObject({
      decision: z.literal("allow"),
      hookSpecificOutput: z.strictObject({ hookEventName: z.literal("BeforeTool"), tool_input: input }),
    }),
    z.strictObject({ decision: z.literal("deny"), reason }),
  ]),
  AfterTool: z.union([
    z.strictObject({ decision: z.literal("deny"), reason }),
    z.strictObject({
      hookSpecificOutput: z.strictObject({
        hookEventName: z.literal("AfterTool"),
        additionalContext: reason,
      }),
    }),
  ]),
};

export const CONTRACTS: Readonly<Record<string, Readonly<Record<string, z.ZodType>>>> = {
  "claude-code": claudeCode,
  codex,
  gemini,
};
