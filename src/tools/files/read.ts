import * as z from "zod";
import { harmless } from "../../text.js";
import { type Tool, ToolError, type World } from "../tool.js";
import { Hidden } from "./hidden.js";
import { mustBeFile, type Pin, stampOf } from "./pin.js";
import { digestOf, hold, intentOf, nameIn, pathSubject, withTarget } from "./target.js";
import { numberOf, readWindow, type Seen } from "./window.js";

const input = z.strictObject({
  path: z.string().min(1),
  offset: z.int().min(1).optional().describe("The first line, from 1."),
  limit: z.int().min(1).optional().describe("How many lines."),
  line_numbers: z.boolean().optional().describe("Show the number of each line before it."),
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
  /** There is more: go on with this offset. */
  readonly next_offset?: number;
  /** Set when there is no text in it. */
  readonly binary?: string;
  readonly notes: readonly string[];
}

export const readFile: Tool<Input, ReadOutput> = {
  name: "read_file",
  description:
    "Reads a text file: all of it, or the lines from offset on. At most 100,000 characters at once (file_read_max_chars); next_offset says where to go on. Binary files are only named. Keys and passwords are taken out. Devices, pipes and credential files are refused.",
  input,
  readOnly: true,

  judge: ({ path }, world) =>
    withTarget(path, "read", world, async ({ real, judgement }) =>
      intentOf({
        what: `read ${nameIn(world, real)}`,
        subject: pathSubject(path, "read"),
        judgement,
        digest: digestOf("read_file", real),
      }),
    ),

  run: (asked, call, world) =>
    withTarget(asked.path, "read", world, async ({ real, judgement, pin, problem }) => {
      hold(call, judgement, digestOf("read_file", real));
      if (!pin) throw problem;
      mustBeFile(asked.path, pin.info);
      return read(asked, pin, world);
    }),
};

async function read(asked: Input, pin: Pin, world: World): Promise<ReadOutput> {
  const { offset = 1, limit = Number.POSITIVE_INFINITY, line_numbers: numbers = false } = asked;
  const handle = await pin.reader();
  try {
    const before = stampOf(await handle.stat({ bigint: true }));
    const warning = world.files.read(world.session, pin.path, before, `${offset} ${limit} ${numbers}`);
    if (warning?.stop) throw new ToolError(warning.rule, warning.reason);
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
      notes.push("The file was changed while it was read: what you see may be of two states.");
    if ("binary" in seen)
      return {
        ...about,
        binary: seen.binary,
        notes: [...notes, `This is no text: ${seen.binary}, ${size.toLocaleString("en")} bytes.`],
      };
    const hidden = new Hidden(seen.text);
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
        `${harmless(asked.path)} has nothing to read now, and would make us wait.`,
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

function notesOn(seen: Seen, offset: number, world: World): string[] {
  const max = world.config.file_read_max_chars.toLocaleString("en");
  const notes: string[] = [];
  if (seen.encoding === "latin-1") notes.push("It is not UTF-8, and was read as Latin-1.");
  if (seen.lines === 0 && offset > 1) notes.push(`The file has fewer than ${offset} lines.`);
  if (seen.cut)
    notes.push(
      `Line ${offset} has more than ${max} characters: only its beginning is shown. Use search_files for the rest.`,
    );
  if (seen.next !== undefined)
    notes.push(`There is more: go on with offset ${seen.next}. At most ${max} characters are shown at once.`);
  return notes;
}
