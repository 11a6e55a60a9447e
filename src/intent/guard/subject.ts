/** The kinds of request that an agent can make, as `guard batch` names them. */
export const KINDS = [
  "command",
  "url",
  "path",
  "memory",
  "skill",
  "text",
  "python",
  "env",
  "mcp",
  "delegation",
] as const;

export type Kind = (typeof KINDS)[number];

/**
 * One thing that an agent wants to do, before it does it. `input` is always text, and spans of findings point into
 * it. Structured input (an environment, a server's configuration) is JSON.
 */
export interface Subject {
  readonly kind: Kind;
  readonly input: string;
  /** Other facts of the request, e.g. `access: "write"` of a path, `source: "web"` of a memory entry. */
  readonly fields?: Readonly<Record<string, unknown>>;
}
