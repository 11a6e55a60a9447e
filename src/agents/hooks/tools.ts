import type { Subject } from "../../intent/guard/subject.js";
import { genericSubjects } from "./arguments.js";

/** What an agent's tool does in the guard's terms, and in which argument it says so. */
export type ToolRow =
  | { readonly does: "url" | "memory"; readonly field: string | readonly string[] }
  /** `optional`: the command may be absent. */
  | { readonly does: "command"; readonly field: string; readonly optional?: true }
  | {
      readonly does: "path";
      readonly field: string | readonly string[];
      readonly access: "read" | "write";
      /** The default folder when the tool names none. */
      readonly otherwise?: string;
    }
  /** The tool itself opens every file below a folder. */
  | {
      readonly does: "search";
      readonly field: string | readonly string[];
      readonly otherwise: string;
      /** The argument that takes file globs, as words; globs with `!` exclude. */
      readonly globs?: string;
    }
  /** A text that contains URLs. */
  | { readonly does: "urls"; readonly field: string }
  /** A patch in the format `*** Update File: …`. */
  | { readonly does: "patch"; readonly field: string | readonly string[] }
  | { readonly does: "nothing" };

/** An input that the tool does not take: its effect is unknown. */
export class UnreadableCall extends Error {}

type Input = Readonly<Record<string, unknown>>;

/** The guard requests for a call. Empty: the tool does nothing that the guard judges. */
export function guardSubjects(tool: string, row: ToolRow | undefined, input: Input): readonly Subject[] {
  if (row === undefined) return genericSubjects(tool, input);
  switch (row.does) {
    case "nothing":
      return [];
    case "command":
      if (row.optional && input[row.field] === undefined) return genericSubjects(tool, input);
      return texts(tool, row.field, input).map((text) => ({ kind: row.does, input: text }));
    case "url":
    case "memory":
      return texts(tool, row.field, input).map((text) => ({ kind: row.does, input: text }));
    case "search":
      return texts(tool, row.field, input, true, row.otherwise).map((path) => pathOf(path, "read"));
    case "path":
      return texts(tool, row.field, input, true, row.otherwise).map((path) => pathOf(path, row.access));
    case "urls":
      return texts(tool, row.field, input)
        .flatMap((text) => text.match(/\b[a-z][a-z0-9+.-]{1,15}:\/\/[^\s<>"'`]+/gi) ?? [])
        .map((url) => ({ kind: "url", input: url }));
    case "patch":
      return patched(tool, texts(tool, row.field, input).join("\n"));
  }
}

function texts(
  tool: string,
  field: string | readonly string[],
  input: Input,
  list = false,
  otherwise?: string,
): string[] {
  const names = [field].flat();
  const value = names.map((name) => input[name]).find((one) => one !== undefined && one !== null);
  if (value === undefined && otherwise !== undefined) return [otherwise];
  const all = list && Array.isArray(value) ? value : [value];
  if (!all.every((one): one is string => typeof one === "string"))
    throw new UnreadableCall(`${tool} takes a string as ${names[0]}`);
  return all;
}

const pathOf = (input: string, access: "read" | "write"): Subject => ({
  kind: "path",
  input,
  fields: { access },
});

/** Every file that it would write, in both patch formats. */
function patched(tool: string, patch: string): Subject[] {
  const named = [
    ...patch.matchAll(/^\*\*\* (?:Add File|Update File|Delete File|Move to): *(.+?) *$/gm),
    ...patch.matchAll(/^(?:\+\+\+|---) (?:[ab]\/)?([^\t\n]+)/gm),
  ].map((match) => match[1]!);
  const files = [...new Set(named)].filter((file) => file !== "/dev/null");
  if (files.length === 0) throw new UnreadableCall(`${tool} was given a patch that names no file`);
  return files.map((file) => pathOf(file, "write"));
}
