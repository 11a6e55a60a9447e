/** Splits a text into pages that fit a terminal, without losing a line. */
export function paginate(text: string, { columns, rows }: { columns: number; rows: number }): string[] {
  const lines = text.split("\n").flatMap((line) => wrapped(line, columns - 1));
  const each = rows - ROOM;
  const pages: string[] = [];
  for (let i = 0; i < lines.length; i += each) pages.push(lines.slice(i, i + each).join("\n"));
  return pages;
}

/** Room for the choices and a line or two of answers. */
const ROOM = 6;

/** Non-ASCII characters count as two columns: none is wider. */
function wrapped(line: string, columns: number): string[] {
  const lines: string[] = [];
  let at = "";
  let width = 0;
  for (const letter of line) {
    const wide = letter > "~" ? 2 : 1;
    if (width + wide > columns) {
      lines.push(at);
      at = CONTINUED;
      width = CONTINUED.length;
    }
    at += letter;
    width += wide;
  }
  return [...lines, at];
}

/** Text of programs is indented, so it cannot imitate a line of ours. */
const CONTINUED = "        ";
