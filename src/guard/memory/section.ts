import * as z from "zod";

/** Where a memory entry came from. What others wrote is trusted less than what the user said. */
export const SOURCES = ["user", "tool", "web", "file", "agent"] as const;
export type Source = (typeof SOURCES)[number];

/** `memory:` in hermes.yaml. */
export const memorySection = z.strictObject({
  /** What happens to an entry with a finding: it is refused; kept with a warning; or kept without the sentence. */
  mode: z.enum(["block", "warn", "strip"]).default("block"),
  /** Sources whose questions are refusals: nobody may be there to answer. */
  distrust: z.array(z.enum(SOURCES)).default(["web", "tool"]),
});
export type MemorySection = z.infer<typeof memorySection>;
