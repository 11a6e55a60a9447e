import type { EventEmitter } from "node:events";
import type { Command, Option } from "commander";

/** The command line as data, for completions and the manual page. */
export interface CommandNode {
  /** `hermes`, `hermes policy check` */
  readonly path: readonly string[];
  readonly description: string;
  readonly options: readonly OptionNode[];
  readonly arguments: readonly ArgumentNode[];
  readonly children: readonly CommandNode[];
  /** The text below its help: examples, exit status. */
  readonly notes: string;
}

export interface OptionNode {
  readonly short?: string;
  readonly long?: string;
  /** In the form of the help: `-p, --policy <file>` */
  readonly flags: string;
  readonly description: string;
  readonly takesValue: boolean;
  /** The values that it takes, if they are known. */
  readonly values: readonly string[];
}

export interface ArgumentNode {
  /** `<file>`, `[command...]` */
  readonly usage: string;
  readonly description: string;
  readonly values: readonly string[];
}

export function commandTree(command: Command, above: readonly string[] = []): CommandNode {
  const path = [...above, command.name()];
  return {
    path,
    description: command.description(),
    options: [...command.options.map(optionOf), HELP],
    arguments: command.registeredArguments.map((argument) => ({
      usage: usageOf(argument.name(), argument.required, argument.variadic),
      description: argument.description,
      values: valuesIn(argument.description),
    })),
    children: command.commands.filter(isShown).map((child) => commandTree(child, path)),
    notes: notesOf(command),
  };
}

/** Old names of commands, and what HERMES calls itself, still work. */
function isShown(command: Command): boolean {
  return !(command as unknown as { readonly _hidden?: boolean })._hidden;
}

const HELP: OptionNode = {
  short: "-h",
  long: "--help",
  flags: "-h, --help",
  description: "show help",
  takesValue: false,
  values: [],
};

function optionOf({ short, long, flags, description, required, optional }: Option): OptionNode {
  return {
    ...(short !== undefined && short !== null && { short }),
    ...(long !== undefined && long !== null && { long }),
    flags,
    description,
    takesValue: required || optional,
    values: valuesIn(description),
  };
}

function usageOf(name: string, required: boolean, variadic: boolean): string {
  const inner = `${name}${variadic ? "..." : ""}`;
  return required ? `<${inner}>` : `[${inner}]`;
}

const LIST = String.raw`(?:[a-z][\w-]*, )*[a-z][\w-]* or [a-z][\w-]*`;
const LISTED = new RegExp(`^(${LIST})(?=$|[:;,(]| \\()|: (${LIST})$`);

/** Extracts the allowed values from a description such as "none, standard or strict: the protections …". */
function valuesIn(description: string): string[] {
  const match = LISTED.exec(description);
  return (match?.[1] ?? match?.[2])?.split(/, | or /) ?? [];
}

function notesOf(command: Command): string {
  let text = "";
  const write = (part: string) => {
    text += part;
  };
  // Not in the types of commander, but its own help uses this event.
  (command as unknown as EventEmitter).emit("afterHelp", { error: false, command, write });
  return text.trim();
}
