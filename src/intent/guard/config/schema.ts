import * as z from "zod";
import { securitySection } from "../content/section.js";
import { credentialsSection } from "../credentials/section.js";
import { MAX_READ_CHARS } from "../files/read-limit.js";
import { filesSection } from "../files/section.js";
import { mcpSection } from "../mcp/section.js";
import { memorySection } from "../memory/section.js";
import { skillsSection } from "../skills/section.js";
import { KINDS } from "../subject.js";
import { urlsSection } from "../urls/section.js";
import { allowSection } from "./allow.js";
import { approvalsSection } from "./approvals.js";
import { backendSection } from "./backend.js";

const action = z.enum(["allow", "ask", "deny"]);

/** One pattern of the user. */
const patternSchema = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]*$/, { error: "is a word of small letters, digits and dashes" })
    .describe("The rule's name in findings."),
  kind: z
    .union([z.enum(KINDS), z.array(z.enum(KINDS)).min(1)])
    .default("command")
    .describe("Which kinds of subject it looks at."),
  match: z.string().min(1).describe("A regular expression in RE2 syntax."),
  action: z.enum(["ask", "deny"]).default("deny"),
  reason: z.string().min(1).describe("The reason that the agent reads."),
});

/** The schema of hermes.yaml. Each layer keeps its section beside its code. */
export const configSchema = z.strictObject({
  profile: z
    .enum(["standard", "strict"])
    .default("standard")
    .describe(
      "standard: risky effects ask. strict: everything that is not on the allow-list asks, and several statements at once.",
    ),
  actions: z
    .record(z.string(), action)
    .default({})
    .describe("The action of single rules: git-push: deny. In a project's file: at least this."),
  allow: allowSection,
  approvals: approvalsSection.prefault({}),
  file_read_max_chars: z
    .int()
    .positive()
    .default(MAX_READ_CHARS)
    .describe("How many characters of a file an agent may read at once."),
  files: filesSection.prefault({}),
  credentials: credentialsSection.prefault({}),
  urls: urlsSection.prefault({}),
  security: securitySection.prefault({}),
  memory: memorySection.prefault({}),
  skills: skillsSection.prefault({}),
  mcp: mcpSection.prefault({}),
  hooks: z
    .strictObject({
      unknown_tools: action
        .default("allow")
        .describe("The action for an agent's tool that HERMES does not know."),
    })
    .prefault({}),
  resident: z
    .enum(["auto", "off"])
    .default("auto")
    .describe(
      "auto: a resident process may answer hooks (docs/explanation/resident.md). off: each call has its own process.",
    ),
  backend: backendSection.prefault({}),
  patterns: z.array(patternSchema).default([]).describe("Your own patterns, matched in linear time."),
});

export type ConfigFile = z.infer<typeof configSchema>;
export type PatternSpec = z.infer<typeof patternSchema>;

/** The keys that are valid at a place of the file, for suggestions. */
export function keysAt(place: readonly (string | number)[]): readonly string[] {
  let at: unknown = configSchema;
  for (const step of place) at = inside(at, step);
  const shape = shapeOf(at);
  return shape ? Object.keys(shape) : [];
}

function inside(schema: unknown, step: string | number): unknown {
  const bare = unwrapped(schema);
  if (bare instanceof z.ZodArray) return bare.element;
  return shapeOf(bare)?.[step];
}

function shapeOf(schema: unknown): Record<string, unknown> | undefined {
  const bare = unwrapped(schema);
  return bare instanceof z.ZodObject ? bare.shape : undefined;
}

function unwrapped(schema: unknown): unknown {
  let at = schema;
  while (at instanceof z.ZodDefault || at instanceof z.ZodPrefault || at instanceof z.ZodOptional)
    at = at.unwrap();
  return at;
}
