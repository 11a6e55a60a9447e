import * as z from "zod";
import { type Tool, ToolError } from "../tool.js";
import {
  type Changed,
  type Changing,
  type FileChange,
  judgeChange,
  type Present,
  runChange,
} from "./change.js";
import { applyEdits } from "./edits.js";
import { encodeFile, isWhole } from "./encoding.js";
import { addsRedactions } from "./secret-hider.js";
import { applyDiff } from "./unified.js";

const edit = z.strictObject({
  old: z.string().describe("Exact text of the file; must occur once."),
  new: z.string(),
  all: z.boolean().optional().describe("Replace every occurrence."),
});

const input = z
  .strictObject({
    path: z.string().min(1),
    edits: z.array(edit).min(1).max(100).optional(),
    diff: z.string().max(10_000_000).optional().describe("A unified diff of this file."),
  })
  .refine(({ edits, diff }) => (edits === undefined) !== (diff === undefined), {
    error: "takes either edits or a diff",
  });
type Input = z.infer<typeof input>;

export const patch: Tool<Input, Changed> = {
  name: "patch",
  description:
    "Changes parts of a text file: either edits (exact old text, which must occur once unless all is set, and new text) or a unified diff. Applies all edits of a call or none. Keeps encoding and line endings.",
  input,
  readOnly: false,
  judge: (asked, world) => judgeChange(changing(asked), world),
  run: (asked, call, world) => runChange(changing(asked), call, world),
};

/** The exact old text proves that the agent read the current version, so a change elsewhere in the file is only a note. */
function changing(asked: Input): Changing {
  return { tool: "patch", path: asked.path, refuses: [], change: (present) => patched(asked, present) };
}

function patched({ edits, diff }: Input, present: Present | undefined): FileChange {
  if (!present) throw new ToolError("not-found", "No such file: create it with write_file.");
  if (!present.decoded) throw new ToolError("binary-file", "The file is not text.");
  const { text: before, encoding } = present.decoded;
  const text = edits ? applyEdits(before, edits) : applyDiff(before, diff!);
  if (!isWhole(text)) throw new ToolError("bad-text", "The new text contains lone surrogates.");
  if (text === before) throw new ToolError("patch-nothing", "This changes nothing.");
  if (addsRedactions(text, before))
    throw new ToolError(
      "redacted-content",
      "The new text contains the placeholder [redacted: …] instead of the secret.",
    );
  const bytes = encodeFile(text, encoding);
  if (!bytes)
    throw new ToolError("bad-text", `The file is ${encoding}, which cannot encode some new characters.`);
  return { bytes, text, notes: [] };
}
