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
import { encodeFile, isWhole } from "./encoding.js";
import { addsRedactions } from "./secret-hider.js";

const input = z.strictObject({
  path: z.string().min(1),
  content: z.string().max(10_000_000).describe("The complete content."),
});
type Input = z.infer<typeof input>;

export const writeFile: Tool<Input, Changed> = {
  name: "write_file",
  description:
    "Writes a whole text file atomically and creates missing folders. Refused when the file changed after you read it: read it again first. To change part of a file, use patch. Writing outside the workspace needs a person's approval.",
  input,
  readOnly: false,
  judge: (asked, world) => judgeChange(changing(asked), world),
  run: (asked, call, world) => runChange(changing(asked), call, world),
};

function changing({ path, content }: Input): Changing {
  return {
    tool: "write_file",
    path,
    refuses: ["changed-since-read", "concurrent-writer"],
    change: (present) => written(content, present),
  };
}

/** A file keeps its encoding if that can encode the new text. */
function written(content: string, present: Present | undefined): FileChange {
  const text = content.replace(/^\ufeff/, "");
  if (!isWhole(text)) throw new ToolError("bad-text", "The content contains lone surrogates.");
  if (addsRedactions(text, present?.decoded?.text ?? ""))
    throw new ToolError(
      "redacted-content",
      "The content contains [redacted: …] where the file has a secret. Writing it would destroy the secret: use patch on the other parts.",
    );
  const encoding = present?.decoded?.encoding ?? (content === text ? "utf-8" : "utf-8-bom");
  const kept = encodeFile(text, encoding);
  if (kept) return { bytes: kept, text, notes: [] };
  return {
    bytes: Buffer.from(text),
    text,
    notes: [`The file was ${encoding}, which cannot encode some characters: it is now UTF-8.`],
  };
}
