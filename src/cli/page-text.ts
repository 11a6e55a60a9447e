/** A text in pages that fit a terminal, every line of it. */
export function pagesOf(text: string, { columns, rows }: { columns: number; rows: number }): string[] {
  const lines = text.split("\n").flatMap((line) => wrapped(line, columns - 1));
  const each = rows - ROOM;
  const pages: string[] = [];
  for (let i = 0; i < lines.length; i += each) pages.push(lines.slice(i, i + each).join("\n"));
  return pages;
}

/** For what can be answered, and a line or two of answers. */
const ROOM = 6;

/** Letters that are not ASCII count as two columns: none is wider. */
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

/** Nothing that a program writes can look like a line of ours: those start further left. */
const CONTINUED = "        ";
