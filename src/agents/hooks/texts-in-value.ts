/** No tool returns deeper results. */
const DEPTH = 16;

/** All strings in a value that a model would read. */
export function textsIn(value: unknown, depth = 0): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || depth > DEPTH) return [];
  return Object.values(value).flatMap((inner) => textsIn(inner, depth + 1));
}

/** The same value with every string mapped; parts nested too deeply are dropped. */
export function withTexts(
  value: unknown,
  change: (text: string, key: string) => string,
  key = "",
  depth = 0,
): unknown {
  if (typeof value === "string") return change(value, key);
  if (typeof value !== "object" || value === null) return value;
  if (depth > DEPTH) return null;
  if (Array.isArray(value)) return value.map((inner) => withTexts(inner, change, key, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withTexts(inner, change, name, depth + 1)]),
  );
}
