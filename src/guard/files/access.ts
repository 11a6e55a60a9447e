/** What is wanted of a file. Without a word about it, reading and writing are both possible. */
export type Access = "read" | "list" | "write" | "append" | "delete" | "execute" | "connect";

export type Want = "read" | "write" | "unknown";

export function want(access: unknown): Want {
  if (access === undefined) return "unknown";
  return access === "read" || access === "list" || access === "stat" ? "read" : "write";
}
