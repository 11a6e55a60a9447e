import type { CommandNode, OptionNode } from "../options/command-tree.js";

/**
 * Walks the words to find the command, then offers its subcommands, options, and the values of an option or argument.
 * Anything else falls back to the shell's own completion, mostly files.
 */
export function bashCompletion(root: CommandNode): string {
  const nodes = allCommands(root);
  return `# bash completion of hermes: source <(hermes completion bash)
_hermes() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} path=hermes arguments=0 i word
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case "$path $word" in
${nodes
  .slice(1)
  .map(({ path }) => `      '${path.join(" ")}') path='${path.join(" ")}' ;;`)
  .join("\n")}
      *\\ -*) ;;
      *) arguments=$((arguments + 1)) ;;
    esac
  done
  local commands= options= values=
  case $path in
${nodes.map(commandCase).join("\n")}
  esac
  case "$path $before" in
${nodes.flatMap(valueCases).join("\n")}
  esac
  if [ -n "$values" ]; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif ((arguments == 0)); then
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  fi
}
complete -o default -F _hermes hermes
`;
}

function commandCase({ path, children, options, arguments: [first] }: CommandNode): string {
  const commands = [...children.map((child) => child.path.at(-1)!), ...(first?.values ?? [])];
  return `    '${path.join(" ")}') commands='${commands.join(" ")}' options='${options.flatMap(optionNames).join(" ")}' ;;`;
}

function valueCases({ path, options }: CommandNode): string[] {
  return options
    .filter(({ values, takesValue }) => takesValue && values.length > 0)
    .map((option) => {
      const words = optionNames(option).map((name) => `'${path.join(" ")} ${name}'`);
      return `    ${words.join(" | ")}) values='${option.values.join(" ")}' ;;`;
    });
}

export function optionNames({ short, long }: OptionNode): string[] {
  return [short, long].filter((name) => name !== undefined);
}

export function allCommands(node: CommandNode): CommandNode[] {
  return [node, ...node.children.flatMap(allCommands)];
}
