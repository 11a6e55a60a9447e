import * as z from "zod";
import { type Tool, ToolError } from "../tool.js";
import { type Change, type Changed, type Changing, judgeChange, type Present, runChange } from "./change.js";
import { encodeFile, isWhole } from "./encoding.js";
import { bringsMarks } from "./hidden.js";

const input = z.strictObject({
  path: z.string().min(1),
  content: z.string().max(10_000_000).describe("All of it."),
});
type Input = z.infer<typeof input>;

export const writeFile: Tool<Input, Changed> = {
  name: "write_file",
  description:
    "Writes a whole text file, at once or not at all; missing folders are made. Refused when the file was changed since you read it: read it again first. To change a part of a file use patch. Outside the workspace a person is asked.",
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

/** A file keeps its encoding when that has all the letters. */
function written(content: string, present: Present | undefined): Change {
  const text = content.replace(/^\ufeff/, "");
  if (!isWhole(text)) throw new ToolError("bad-text", "The content has half characters (lone surrogates).");
  if (bringsMarks(text, present?.decoded?.text ?? ""))
    throw new ToolError(
      "redacted-content",
      "The content has [redacted: …] where the file has a secret, which would be lost: use patch on the parts around it.",
    );
  const encoding = present?.decoded?.encoding ?? (content === text ? "utf-8" : "utf-8-bom");
  const kept = encodeFile(text, encoding);
  if (kept) return { bytes: kept, text, notes: [] };
  return {
    bytes: Buffer.from(text),
    text,
    notes: [`The file was ${encoding}, which has not all of these letters: it is UTF-8 now.`],
  };
}
