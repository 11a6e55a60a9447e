import { applyEdits, modify, type ParseError, parse, printParseErrorCode } from "jsonc-parser";
import { HermesError } from "../../../nouns/errors.js";
import { type AgentSettings, hookCommandOf, isOurs } from "./settings.js";

type Group = { readonly matcher?: string; readonly hooks?: readonly { readonly command?: unknown }[] };

/** The agent's settings file with our hooks added and everything else unchanged. */
export function withHooks(text: string, file: string, agent: string, settings: AgentSettings): string {
  let now = withoutHooks(text, file, agent, settings);
  if (now.trim() === "") now = "{}\n";
  for (const { event, matcher } of settings.events) {
    const command = hookCommandOf(agent);
    const group = {
      ...(matcher !== undefined && { matcher }),
      hooks: [{ type: "command", command, timeout: settings.timeout }],
    };
    const before = groupsOf(read(now, file, settings), event, file).length;
    now = edited(now, ["hooks", event, before], group, true);
  }
  now = withAllowed(now, file, settings);
  // If nothing changes, the text stays as it was written.
  const same = JSON.stringify(read(now, file, settings)) === JSON.stringify(read(text, file, settings));
  return same ? text : now;
}

/** Removes our hooks, and lists and objects that held nothing else. */
export function withoutHooks(text: string, file: string, agent: string, settings: AgentSettings): string {
  let now = text;
  for (const { event } of settings.events)
    for (;;) {
      const groups = groupsOf(read(now, file, settings), event, file);
      const at = groups.findIndex(({ hooks = [] }) => hooks.some(({ command }) => isOurs(command, agent)));
      if (at < 0) break;
      const { hooks = [] } = groups[at]!;
      const ours = hooks.findIndex(({ command }) => isOurs(command, agent));
      now =
        hooks.length > 1
          ? edited(now, ["hooks", event, at, "hooks", ours])
          : groups.length > 1
            ? edited(now, ["hooks", event, at])
            : edited(now, ["hooks", event]);
    }
  now = withoutAllowed(now, file, settings);
  if (now === text) return text;
  const { hooks } = read(now, file, settings);
  return hooks !== undefined && Object.keys(hooks as object).length === 0 ? edited(now, ["hooks"]) : now;
}

/** The commands of our hooks in the file. */
export function ourHooks(
  text: string,
  file: string,
  agent: string,
  settings: AgentSettings,
): readonly string[] {
  const value = read(text, file, settings);
  return settings.events
    .flatMap(({ event }) => groupsOf(value, event, file))
    .flatMap(({ hooks = [] }) => hooks)
    .flatMap(({ command }) => (isOurs(command, agent) ? [command as string] : []));
}

function withAllowed(text: string, file: string, settings: AgentSettings): string {
  const { path = [], rules = [] } = settings.allows ?? {};
  return rules.reduce((now, rule) => {
    const known = listAt(now, path, file, settings);
    return known.includes(rule) ? now : edited(now, [...path, known.length], rule, true);
  }, text);
}

function withoutAllowed(text: string, file: string, settings: AgentSettings): string {
  const { path = [], ours } = settings.allows ?? {};
  if (!ours) return text;
  let now = text;
  for (;;) {
    const known = listAt(now, path, file, settings);
    const at = known.findIndex((rule) => typeof rule === "string" && ours.test(rule));
    if (at < 0) break;
    now = known.length > 1 ? edited(now, [...path, at]) : edited(now, [...path]);
  }
  if (now === text) return text;
  const [first] = path;
  const above = read(now, file, settings)[first!];
  return above !== undefined && Object.keys(above as object).length === 0 ? edited(now, [first!]) : now;
}

function listAt(
  text: string,
  path: readonly string[],
  file: string,
  settings: AgentSettings,
): readonly unknown[] {
  const value = path.reduce<unknown>((at, key) => (at as never)?.[key], read(text, file, settings)) ?? [];
  if (!Array.isArray(value)) throw broken(file, `its \`${path.join(".")}\` is not a list`);
  return value;
}

/** Whether a setting in the file turns hooks off. */
export function switchedOff(text: string, file: string, settings: AgentSettings): string | undefined {
  const value = read(text, file, settings);
  return settings.off
    .find(({ path, value: off }) => path.reduce<unknown>((at, key) => (at as never)?.[key], value) === off)
    ?.path.join(".");
}

function read(text: string, file: string, { comments }: AgentSettings): Record<string, unknown> {
  if (text.trim() === "") return {};
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { disallowComments: !comments, allowTrailingComma: comments });
  const [error] = errors;
  if (error) {
    const line = text.slice(0, error.offset).split("\n").length;
    throw broken(file, `line ${line}: ${printParseErrorCode(error.error)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw broken(file, "it is not an object");
  return value as Record<string, unknown>;
}

function groupsOf({ hooks = {} }: Record<string, unknown>, event: string, file: string): readonly Group[] {
  if (typeof hooks !== "object" || hooks === null || Array.isArray(hooks))
    throw broken(file, "its `hooks` is not an object");
  const groups = (hooks as Record<string, unknown>)[event] ?? [];
  const isGroup = (group: unknown): group is Group =>
    typeof group === "object" && group !== null && Array.isArray((group as Group).hooks ?? []);
  if (!Array.isArray(groups) || !groups.every(isGroup))
    throw broken(file, `its \`hooks.${event}\` is not a list of hooks`);
  return groups;
}

function edited(text: string, path: (string | number)[], value?: unknown, insert = false): string {
  const indent = /^(?<white>[\t ]+)\S/m.exec(text)?.groups?.white ?? "  ";
  const formattingOptions = {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 1 : indent.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
  return applyEdits(text, modify(text, path, value, { formattingOptions, isArrayInsertion: insert }));
}

function broken(file: string, message: string): HermesError {
  return new HermesError("SETTINGS", { file, message });
}
