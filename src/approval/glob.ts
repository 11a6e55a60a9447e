/** Whether a pattern with `*` (any letters, also none) is the whole of a text. Linear: texts come from whoever is judged. */
export function globMatches(pattern: string, text: string): boolean {
  const pieces = pattern.split("*");
  const first = pieces.shift()!;
  const last = pieces.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of pieces) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
