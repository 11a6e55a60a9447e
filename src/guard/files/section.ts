import * as z from "zod";
import { RE_READ } from "./tracker.js";

const globs = z.array(z.string().min(1)).default([]);

/** `files:` in hermes.yaml. */
export const filesSection = z.strictObject({
  deny: globs.describe("Paths that are refused, as globs: ~/private/**, secrets/*.txt"),
  ask: globs.describe("Paths that need a question."),
  re_read_warn: z
    .int()
    .min(2)
    .default(RE_READ.warnAfter)
    .describe("The same part of an unchanged file read this often in a row: the agent is told."),
  re_read_stop: z.int().min(2).default(RE_READ.stopAfter).describe("Read this often: refused."),
});
export type FilesSection = z.infer<typeof filesSection> & {
  /** `file_read_max_chars:` of the file. */
  readonly read_max_chars: number;
};
