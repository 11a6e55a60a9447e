/** The requested access. Without it, both reading and writing are possible. */
export type Access = "read" | "list" | "write" | "append" | "delete" | "execute" | "connect";

export type Want = "read" | "write" | "unknown";

export function want(access: unknown): Want {
  if (access === undefined) return "unknown";
  return access === "read" || access === "list" || access === "stat" ? "read" : "write";
}
