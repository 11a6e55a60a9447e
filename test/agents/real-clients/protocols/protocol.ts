import type { ServerResponse } from "node:http";

/** One turn of the script: a tool call, or words. */
export type Step =
  | { readonly tool: string; readonly input: Readonly<Record<string, unknown>> | string }
  | { readonly say: string };

/** What the model says in its conversation with the client, and in one with a helper that the client starts. */
export interface Script {
  readonly steps: readonly Step[];
  readonly helper?: readonly Step[];
}

/** A helper's task begins with it. */
export const HELPER = "This is the helper's task.";

export interface Turn {
  /** Names of the tools that the client offers. */
  readonly tools: readonly string[];
  /** What the tools called so far returned, in order. */
  readonly results: readonly string[];
  /** What the user said first. */
  readonly task: string;
  readonly body: string;
}

export interface Asked {
  readonly url: string;
  // biome-ignore lint/suspicious/noExplicitAny: a request of a client, of many shapes
  readonly body: any;
}

/** How one provider's clients speak to a model. */
export interface Protocol {
  readonly path: RegExp;
  // biome-ignore lint/suspicious/noExplicitAny: a request of a client, of many shapes
  read(body: any): Omit<Turn, "body">;
  write(step: Step, at: number, asked: Asked, response: ServerResponse): void;
}

export function stream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
}

/** All text in a value, for a reader who only wants to know what the model saw. */
export function textIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  return Object.values(value).map(textIn).join("\n");
}
