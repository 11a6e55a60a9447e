import * as z from "zod";
import type { Tool } from "./tool.js";

/** A tool as a function-calling definition for a model. */
export interface FunctionDefinition {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: Readonly<Record<string, unknown>>;
  };
}

export function functionDefinition({ name, description, input }: Tool): FunctionDefinition {
  const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: "input" });
  return { type: "function", function: { name, description, parameters } };
}
