import type { Kind, Subject } from "../../intent/guard/subject.js";

/** No tool takes deeper or more arguments. */
const DEPTH = 8;
const MOST = 200;

/** What an argument means by its name, for any tool. Names are compared as words: `file_path` and `filePath` are alike. */
const MEANINGS: readonly (readonly [name: RegExp, kind: Kind])[] = [
  [/^(?:(?:shell|bash|terminal) )?(?:command|cmd|script|command line)$/, "command"],
  [/(?:^| )(?:url|uri|href|endpoint)s?$/, "url"],
  [/(?:^| )(?:path|file|filename|file ?path|directory|dir|folder)s?$/, "path"],
  [/^(?:python|python code)$/, "python"],
];

const CHANGES =
  /(?:^| )(?:write|create|edit|delete|remove|move|rename|save|append|put|update|insert|replace|patch|copy|upload|set|add|store)(?: |$)/;
const REMEMBERS = /(?:^| )(?:memory|memories|remember|observations?|entities|knowledge|fact|facts)(?: |$)/;

/**
 * A tool unknown to HERMES: from an MCP server, or newer than this version. Its arguments are judged by their names, and
 * all of them are scanned for secrets that would leave.
 */
export function genericSubjects(tool: string, input: Readonly<Record<string, unknown>>): readonly Subject[] {
  const name = wordsOf(tool);
  const access = CHANGES.test(name) ? "write" : "read";
  const found: Subject[] = [];
  const remembered: string[] = [];
  const visit = (key: string, value: unknown, depth: number): void => {
    if (found.length + remembered.length > MOST || depth > DEPTH) return;
    if (Array.isArray(value)) for (const item of value) visit(key, item, depth + 1);
    else if (typeof value === "object" && value !== null)
      for (const [inner, item] of Object.entries(value)) visit(wordsOf(inner), item, depth + 1);
    else if (typeof value === "string") {
      const kind = MEANINGS.find(([pattern]) => pattern.test(key))?.[1];
      if (kind === "path") found.push({ kind, input: value, fields: { access } });
      else if (kind) found.push({ kind, input: value });
      else remembered.push(value);
    }
  };
  visit("", input, 0);
  if (REMEMBERS.test(name) && access === "write")
    found.push(...remembered.map((text): Subject => ({ kind: "memory", input: text })));
  return [...found, { kind: "text", input: JSON.stringify(input), fields: { only: "credentials" } }];
}

/** Whether an argument of this name is a command. */
export function isCommandName(name: string): boolean {
  return MEANINGS.find(([pattern]) => pattern.test(wordsOf(name)))?.[1] === "command";
}

/** `mcp__files__writeFile` → `mcp files write file`. */
function wordsOf(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/[^A-Za-z0-9]+/g, " ")
    .trim()
    .toLowerCase();
}
