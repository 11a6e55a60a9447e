import type { FileHandle } from "node:fs/promises";
import { ToolError } from "../tool.js";
import { decoder, type Encoding, fileType, HEAD, sniff } from "./encoding.js";

const CHUNK = 1 << 18;
/** How far into a file a line is searched for. */
const FARTHEST = 1 << 28;
/** Context that is kept around a window: the guard recognises a key by its beginning and end. */
const AROUND = 16_384;

interface FileWindow {
  /** The first line, from 1. */
  readonly offset: number;
  readonly limit: number;
  /** Maximum number of characters. */
  readonly chars: number;
  /** Show each line with its number. */
  readonly numbers: boolean;
}

export interface Seen {
  readonly encoding: Encoding;
  /** Text before the window, the window, text after it. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly lines: number;
  /** The line to continue with. Absent: the file ends here. */
  readonly next?: number;
  /** The single line shown is longer than the limit. */
  readonly cut: boolean;
}

/** Binary; the kind, if known. */
interface Binary {
  readonly binary: string;
}

/** Reads the lines of a window. Memory depends on the window, not on the file. */
export async function readWindow(handle: FileHandle, window: FileWindow): Promise<Seen | Binary> {
  const head = Buffer.alloc(HEAD);
  const { bytesRead } = await handle.read(head, 0, HEAD, 0);
  const encoding = sniff(head.subarray(0, bytesRead));
  if (encoding === undefined) return { binary: fileType(head) ?? "data" };
  const seen = (await decoded(handle, window, encoding)) ?? (await decoded(handle, window, "latin-1"));
  if (seen === undefined) throw new TypeError("every byte is a letter of Latin-1");
  return seen.text.slice(seen.start, seen.end).includes("\0") ? { binary: "data" } : seen;
}

/** Undefined when the bytes are invalid in this encoding. */
async function decoded(
  handle: FileHandle,
  window: FileWindow,
  encoding: Encoding,
): Promise<Seen | undefined> {
  let before = "";
  let rest = "";
  let line = 1;
  try {
    for await (const piece of pieces(handle, encoding)) {
      let at = 0;
      while (line < window.offset && at < piece.length) {
        const end = piece.indexOf("\n", at);
        at = end < 0 ? piece.length : end + 1;
        if (end >= 0) line++;
      }
      before = (before + piece.slice(0, at)).slice(-AROUND);
      rest += piece.slice(at);
      if (rest.length > window.chars + AROUND) break;
    }
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
  const { lines, length, cut } = fitting(rest, window);
  const more = length < rest.length;
  return {
    encoding,
    text: before + rest,
    start: before.length,
    end: before.length + length,
    lines,
    ...(more && { next: window.offset + lines }),
    cut,
  };
}

/** The text in chunks, up to the limit. */
async function* pieces(handle: FileHandle, encoding: Encoding): AsyncIterable<string> {
  const decode = decoder(encoding);
  const buffer = Buffer.alloc(CHUNK);
  for (let at = 0; ; ) {
    if (at >= FARTHEST)
      throw new ToolError(
        "too-far",
        `These lines are more than ${FARTHEST >> 20} MB into the file: use search_files or a command.`,
      );
    const { bytesRead } = await handle.read(buffer, 0, CHUNK, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    yield decode.decode(buffer.subarray(0, bytesRead), { stream: true });
  }
  yield decode.decode();
}

/** As many requested whole lines as fit. If the first line does not fit, its beginning. */
function fitting(text: string, { offset, limit, chars, numbers }: FileWindow) {
  let length = 0;
  let lines = 0;
  let used = 0;
  while (lines < limit && length < text.length) {
    const end = text.indexOf("\n", length) + 1 || text.length;
    used += end - length + (numbers ? numberOf(offset + lines).length : 0);
    if (used > chars) break;
    length = end;
    lines++;
  }
  if (lines > 0 || text === "" || limit === 0) return { length, lines, cut: false };
  const room = Math.max(1, chars - (numbers ? numberOf(offset).length : 0));
  const end = isHigh(text.charCodeAt(room - 1)) ? room - 1 : room;
  return { length: end, lines: 1, cut: true };
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

export function numberOf(line: number): string {
  return `${String(line).padStart(6)}\t`;
}
