import * as z from "zod";

/** A delegation request. Other keys do not affect safety and are ignored. */
export const delegationRequest = z.object({
  task: z.string().optional(),
  goal: z.string().optional(),
  prompt: z.string().optional(),
  context: z.string().optional(),
  /** The depth of the requesting agent; 0 talks to the user. */
  depth: z.number().int().min(0).optional(),
  tools: z.array(z.string()).optional(),
  toolsets: z.array(z.string()).optional(),
  read_only: z.boolean().optional(),
  skip_memory: z.boolean().optional(),
  inherit_history: z.boolean().optional(),
  messages: z.array(z.unknown()).optional(),
  history: z.array(z.unknown()).optional(),
  task_id: z.string().optional(),
  parent_task_id: z.string().optional(),
  iterations: z.number().optional(),
  budget_left: z.number().optional(),
});
export type DelegationRequest = z.infer<typeof delegationRequest>;
