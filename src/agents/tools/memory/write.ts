import { createHash, randomUUID } from "node:crypto";
import * as z from "zod";
import { redact } from "../../../intent/guard/credentials/secrets.js";
import { screen } from "../../../intent/guard/memory/screen.js";
import { MEMORY_SOURCES } from "../../../intent/guard/memory/sources.js";
import type { Tool, ToolIntent } from "../tool.js";
import { MemoryFile } from "./memory-file.js";

const input = z.strictObject({
  text: z.string().min(1).max(20_000).describe("What to remember, in plain words."),
  source: z
    .enum(MEMORY_SOURCES)
    .default("agent")
    .describe("Where it comes from: pages and tools are trusted less."),
});
type Input = z.infer<typeof input>;

interface Remembered {
  readonly id: string;
  readonly stored: string;
  readonly tags: readonly string[];
}

/** Adds an entry to the memory that later conversations start with. The guard screens it, because agents will trust it. */
export const memoryWrite: Tool<Input, Remembered> = {
  name: "memory_write",
  description:
    'Remember something for later conversations. Facts and preferences only: text that reads like an order to an agent is refused or needs approval, and secrets are redacted. Example: {"text": "The tests run with npm test.", "source": "user"}',
  input,
  readOnly: false,

  async judge({ text, source }, world): Promise<ToolIntent> {
    const subject = { kind: "memory", input: text, fields: { source } } as const;
    const { action, findings } = world.guard.check(subject);
    const kept = screen(text, source, world.config.memory).text !== undefined;
    // Where the configuration keeps such entries with a warning, or without the sentence, the finding is not a question.
    const lenient = world.config.memory.mode !== "block";
    return {
      what: `remember (${source}): ${text}`,
      subject,
      action: lenient ? (kept ? "allow" : "deny") : action,
      findings,
      digest: createHash("sha256")
        .update(JSON.stringify(["hermes memory", 1, text, source]))
        .digest("hex"),
    };
  },

  async run({ text, source }, call, world) {
    const screened = screen(text, source, world.config.memory);
    const tags =
      screened.text === undefined
        ? [...screened.tags, ...call.approved.map((rule) => `approved:${rule}`)]
        : screened.tags;
    const entry: Remembered = { id: randomUUID(), stored: redact(screened.text ?? text).text, tags };
    const { id, stored } = entry;
    const kept = { id, time: Date.now(), session: world.session, text: stored, tags };
    await new MemoryFile(world.env, world.home).add(kept);
    return entry;
  },
};
