import * as z from "zod";
import { type Tool, ToolError } from "../tool.js";
import { type Change, type Changed, type Changing, judgeChange, type Present, runChange } from "./change.js";
import { applyEdits } from "./edits.js";
import { encodeFile, isWhole } from "./encoding.js";
import { bringsMarks } from "./hidden.js";
import { applyDiff } from "./unified.js";

const edit = z.strictObject({
  old: z.string().describe("Exactly as in the file, once in it."),
  new: z.string(),
  all: z.boolean().optional().describe("Everywhere it stands."),
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
    "Changes parts of a text file: edits (exact old text, which must stand there once unless all is set, and new text), or a unified diff. All edits of a call are made, or none. Encoding and line ends are kept.",
  input,
  readOnly: false,
  judge: (asked, world) => judgeChange(changing(asked), world),
  run: (asked, call, world) => runChange(changing(asked), call, world),
};

/** The exact old text is what was read: a change elsewhere in the file is only mentioned. */
function changing(asked: Input): Changing {
  return { tool: "patch", path: asked.path, refuses: [], change: (present) => patched(asked, present) };
}

function patched({ edits, diff }: Input, present: Present | undefined): Change {
  if (!present) throw new ToolError("not-found", "There is no such file: make it with write_file.");
  if (!present.decoded) throw new ToolError("binary-file", "The file is no text.");
  const { text: before, encoding } = present.decoded;
  const text = edits ? applyEdits(before, edits) : applyDiff(before, diff!);
  if (!isWhole(text)) throw new ToolError("bad-text", "The new text has half characters (lone surrogates).");
  if (text === before) throw new ToolError("patch-nothing", "This changes nothing.");
  if (bringsMarks(text, before))
    throw new ToolError("redacted-content", "The new text has [redacted: …] where a secret was.");
  const bytes = encodeFile(text, encoding);
  if (!bytes)
    throw new ToolError("bad-text", `The file is ${encoding}, which has not all of the new letters.`);
  return { bytes, text, notes: [] };
}
