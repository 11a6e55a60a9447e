import type { EventEmitter } from "node:events";
import type { Command, Option } from "commander";

/** The command line as data: what completions and the manual page are made of. */
export interface CommandNode {
  /** `hermes`, `hermes policy check` */
  readonly path: readonly string[];
  readonly description: string;
  readonly options: readonly OptionNode[];
  readonly arguments: readonly ArgumentNode[];
  readonly children: readonly CommandNode[];
  /** What stands below its help: examples, exit status. */
  readonly notes: string;
}

export interface OptionNode {
  readonly short?: string;
  readonly long?: string;
  /** As the help shows it: `-p, --policy <file>` */
  readonly flags: string;
  readonly description: string;
  readonly takesValue: boolean;
  /** The words that it takes, when they are known. */
  readonly values: readonly string[];
}

export interface ArgumentNode {
  /** `<file>`, `[command...]` */
  readonly usage: string;
  readonly description: string;
  readonly values: readonly string[];
}

export function treeOf(command: Command, above: readonly string[] = []): CommandNode {
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
    children: command.commands.map((child) => treeOf(child, path)),
    notes: notesOf(command),
  };
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

/** "none, standard or strict: what holds …" names what may be written: people read it, and so does this. */
function valuesIn(description: string): string[] {
  const match = LISTED.exec(description);
  return (match?.[1] ?? match?.[2])?.split(/, | or /) ?? [];
}

function notesOf(command: Command): string {
  let text = "";
  const write = (part: string) => {
    text += part;
  };
  // Its types say nothing of it, but this is how its help asks for them.
  (command as unknown as EventEmitter).emit("afterHelp", { error: false, command, write });
  return text.trim();
}
