/** Tables by name, each parsed when it is first read: a run needs few of them. */
export function parsedOnUse<T>(texts: Readonly<Record<string, string>>): Readonly<Record<string, T>> {
  const tables: Record<string, T> = {};
  for (const [name, text] of Object.entries(texts)) {
    let table: T | undefined;
    Object.defineProperty(tables, name, {
      enumerable: true,
      get() {
        table ??= JSON.parse(text) as T;
        return table;
      },
    });
  }
  return tables;
}
