import * as z from "zod";
import { MEMORY_SOURCES } from "./sources.js";

/** `memory:` in hermes.yaml. */
export const memorySection = z.strictObject({
  /** For an entry with a finding: refuse it, keep it with a warning, or keep it without the sentence. */
  mode: z.enum(["block", "warn", "strip"]).default("block"),
  /** Sources for which a question becomes a refusal: no approver may be present. */
  distrust: z.array(z.enum(MEMORY_SOURCES)).default(["web", "tool"]),
});
export type MemorySection = z.infer<typeof memorySection>;
