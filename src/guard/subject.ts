/** What an agent can ask for, as `guard batch` names it. */
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
 * One thing that an agent wants to do, before it does it. `input` is always text: spans of findings point into it.
 * What is not text by nature (an environment, a server's configuration) arrives as JSON.
 */
export interface Subject {
  readonly kind: Kind;
  readonly input: string;
  /** Whatever else the asker said, e.g. `access: "write"` of a path, `source: "web"` of a memory entry. */
  readonly fields?: Readonly<Record<string, unknown>>;
}
