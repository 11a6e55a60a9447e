import type { ArgumentNode, CommandNode, OptionNode } from "../options/command-tree.js";
import { allCommands } from "./completion-bash.js";

export function fishCompletion(root: CommandNode): string {
  return `# fish completion of hermes: hermes completion fish | source
${allCommands(root).flatMap(lines).join("\n")}
`;
}

function lines({ path, children, options, arguments: [first] }: CommandNode): string[] {
  const condition = conditionOf(path, children);
  const start = `complete -c hermes -n ${quoted(condition)}`;
  return [
    ...children.map(
      (child) => `${start} -f -a ${quoted(child.path.at(-1)!)} -d ${quoted(child.description)}`,
    ),
    ...options.map((option) => start + optionOf(option)),
    ...argumentOf(start, first),
  ];
}

/** These words were typed, and no subcommand of them. */
function conditionOf(path: readonly string[], children: readonly CommandNode[]): string {
  const seen = path.slice(1).map((word) => `__fish_seen_subcommand_from ${word}`);
  const below = children.map((child) => child.path.at(-1)!);
  const none = below.length > 0 ? [`not __fish_seen_subcommand_from ${below.join(" ")}`] : [];
  return [...seen, ...none].join("; and ");
}

function optionOf({ short, long, description, takesValue, values }: OptionNode): string {
  const name = [
    ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
    ...(long === undefined ? [] : [`-l ${long.slice(2)}`]),
  ].join(" ");
  const value = values.length > 0 ? ` -x -a ${quoted(values.join(" "))}` : takesValue ? " -r" : "";
  return ` ${name}${takesValue ? value : ""} -d ${quoted(description)}`;
}

function argumentOf(start: string, first: ArgumentNode | undefined): string[] {
  return first && first.values.length > 0
    ? [`${start} -f -a ${quoted(first.values.join(" "))} -d ${quoted(first.description)}`]
    : [];
}

const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
