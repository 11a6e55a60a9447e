import * as z from "zod";
import { RE_READ } from "./tracker.js";

const globs = z.array(z.string().min(1)).default([]);

/** `files:` in hermes.yaml. */
export const filesSection = z.strictObject({
  deny: globs.describe("Globs of paths to refuse: ~/private/**, secrets/*.txt"),
  ask: globs.describe("Globs of paths that need approval."),
  re_read_warn: z
    .int()
    .min(2)
    .default(RE_READ.warnAfter)
    .describe("Reads of the same part of an unchanged file in a row before the agent is warned."),
  re_read_stop: z.int().min(2).default(RE_READ.stopAfter).describe("Reads before the next one is refused."),
});
export type FilesSection = z.infer<typeof filesSection> & {
  /** `file_read_max_chars:` of the file. */
  readonly read_max_chars: number;
};
