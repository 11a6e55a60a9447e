import type { Subject } from "../guard/subject.js";
import { genericSubjects } from "./arguments.js";

/** What a tool of an agent does, as far as the guard is concerned, and in which argument it says so. */
export type ToolRow =
  | { readonly does: "url" | "memory"; readonly field: string | readonly string[] }
  /** `optional`: it may do something else, without a command. */
  | { readonly does: "command"; readonly field: string; readonly optional?: true }
  | {
      readonly does: "path";
      readonly field: string | readonly string[];
      readonly access: "read" | "write";
      /** Where it looks when it names no place. */
      readonly otherwise?: string;
    }
  /** It opens every file below a folder by itself. */
  | {
      readonly does: "search";
      readonly field: string | readonly string[];
      readonly otherwise: string;
      /** The argument that takes globs of files, in words; those with `!` are left out. */
      readonly globs?: string;
    }
  /** A text with URLs in it. */
  | { readonly does: "urls"; readonly field: string }
  /** A patch in the form `*** Update File: …`. */
  | { readonly does: "patch"; readonly field: string | readonly string[] }
  | { readonly does: "nothing" };

/** An input that is not what the tool takes: nobody can say what it would do. */
export class UnreadableCall extends Error {}

type Input = Readonly<Record<string, unknown>>;

/** What the guard is asked about a call. Empty: it does nothing that the guard knows. */
export function subjectsOf(tool: string, row: ToolRow | undefined, input: Input): readonly Subject[] {
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
    throw new UnreadableCall(`${tool} takes a text as ${names[0]}`);
  return all;
}

const pathOf = (input: string, access: "read" | "write"): Subject => ({
  kind: "path",
  input,
  fields: { access },
});

/** Every file that it would write, in both spellings of a patch. */
function patched(tool: string, patch: string): Subject[] {
  const named = [
    ...patch.matchAll(/^\*\*\* (?:Add File|Update File|Delete File|Move to): *(.+?) *$/gm),
    ...patch.matchAll(/^(?:\+\+\+|---) (?:[ab]\/)?([^\t\n]+)/gm),
  ].map((match) => match[1]!);
  const files = [...new Set(named)].filter((file) => file !== "/dev/null");
  if (files.length === 0) throw new UnreadableCall(`${tool} was given a patch that names no file`);
  return files.map((file) => pathOf(file, "write"));
}
