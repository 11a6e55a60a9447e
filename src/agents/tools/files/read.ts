import * as z from "zod";
import { escapeControl } from "../../../nouns/text.js";
import { type Tool, type ToolContext, ToolError, ToolRefusal } from "../tool.js";
import {
  intentOf,
  nameIn,
  operationDigest,
  pathSubject,
  requireApproved,
  withTarget,
} from "./file-target.js";
import { numberOf, readWindow, type Seen } from "./file-window.js";
import { mustBeFile, type Pin, stampOf } from "./pin.js";
import { SecretHider } from "./secret-hider.js";

const input = z.strictObject({
  path: z.string().min(1),
  offset: z.int().min(1).optional().describe("First line, counted from 1."),
  limit: z.int().min(1).optional().describe("Number of lines."),
  line_numbers: z.boolean().optional().describe("Prefix each line with its number."),
});
type Input = z.infer<typeof input>;

export interface ReadOutput {
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  readonly content?: string;
  readonly encoding?: string;
  readonly first_line?: number;
  readonly lines?: number;
  /** More lines follow: continue with this offset. */
  readonly next_offset?: number;
  /** Set for a binary file. */
  readonly binary?: string;
  readonly notes: readonly string[];
}

export const readFile: Tool<Input, ReadOutput> = {
  name: "read_file",
  description:
    "Reads a text file, or its lines from offset on. At most 100,000 characters per call (file_read_max_chars); continue with next_offset. Binary files are described, not shown. Keys and passwords are redacted. Devices, pipes and credential files are refused.",
  input,
  readOnly: true,

  judge: ({ path }, world) =>
    withTarget(path, "read", world, async ({ real, judgement }) =>
      intentOf({
        what: `read ${nameIn(world, real)}`,
        subject: pathSubject(path, "read"),
        judgement,
        digest: operationDigest("read_file", real),
      }),
    ),

  run: (asked, call, world) =>
    withTarget(asked.path, "read", world, async ({ real, judgement, pin, problem }) => {
      requireApproved(call, judgement, operationDigest("read_file", real));
      if (!pin) throw problem;
      mustBeFile(asked.path, pin.info);
      return read(asked, pin, world);
    }),
};

async function read(asked: Input, pin: Pin, world: ToolContext): Promise<ReadOutput> {
  const { offset = 1, limit = Number.POSITIVE_INFINITY, line_numbers: numbers = false } = asked;
  const handle = await pin.reader();
  try {
    const before = stampOf(await handle.stat({ bigint: true }));
    const warning = world.files.read(world.session, pin.path, before, `${offset} ${limit} ${numbers}`);
    if (warning?.stop) throw new ToolRefusal(warning.rule, warning.reason);
    const seen = await readWindow(handle, {
      offset,
      limit,
      chars: world.config.file_read_max_chars,
      numbers,
    });
    const after = await handle.stat({ bigint: true });
    const size = Number(after.size);
    const about = { path: nameIn(world, pin.path), size };
    const notes = warning ? [warning.reason] : [];
    if (stampOf(after) !== before)
      notes.push("The file changed during the read: the text may mix two versions.");
    if ("binary" in seen)
      return {
        ...about,
        binary: seen.binary,
        notes: [...notes, `Not text: ${seen.binary}, ${size.toLocaleString("en")} bytes.`],
      };
    const hidden = new SecretHider(seen.text);
    const content = hidden.part(seen.start, seen.end);
    return {
      ...about,
      content: numbers ? numbered(content, offset) : content,
      encoding: seen.encoding,
      first_line: offset,
      lines: seen.lines,
      ...(seen.next !== undefined && { next_offset: seen.next }),
      notes: [...notes, ...(hidden.note ? [hidden.note] : []), ...notesOn(seen, offset, world)],
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN")
      throw new ToolError(
        "not-a-file",
        `${escapeControl(asked.path)} has no data to read now; reading it would block.`,
      );
    throw error;
  } finally {
    await handle.close();
  }
}

function numbered(text: string, offset: number): string {
  const lines = text.split(/(?<=\n)/);
  return lines.map((line, i) => numberOf(offset + i) + line).join("");
}

function notesOn(seen: Seen, offset: number, world: ToolContext): string[] {
  const max = world.config.file_read_max_chars.toLocaleString("en");
  const notes: string[] = [];
  if (seen.encoding === "latin-1") notes.push("The file is not UTF-8; it was read as Latin-1.");
  if (seen.lines === 0 && offset > 1) notes.push(`The file has fewer than ${offset} lines.`);
  if (seen.cut)
    notes.push(
      `Line ${offset} is longer than ${max} characters: only its beginning is shown. Use search_files for the rest.`,
    );
  if (seen.next !== undefined)
    notes.push(
      `More lines follow: continue with offset ${seen.next}. One call shows at most ${max} characters.`,
    );
  return notes;
}
