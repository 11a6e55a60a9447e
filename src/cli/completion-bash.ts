import type { CommandNode, OptionNode } from "./tree.js";

/**
 * Follows the words to the command that is meant, then offers its commands, its options and the words that an option or
 * argument takes; whatever else is the shell's own (files, mostly).
 */
export function bashCompletion(root: CommandNode): string {
  const nodes = all(root);
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
  return `    '${path.join(" ")}') commands='${commands.join(" ")}' options='${options.flatMap(names).join(" ")}' ;;`;
}

function valueCases({ path, options }: CommandNode): string[] {
  return options
    .filter(({ values, takesValue }) => takesValue && values.length > 0)
    .map((option) => {
      const words = names(option).map((name) => `'${path.join(" ")} ${name}'`);
      return `    ${words.join(" | ")}) values='${option.values.join(" ")}' ;;`;
    });
}

export function names({ short, long }: OptionNode): string[] {
  return [short, long].filter((name) => name !== undefined);
}

export function all(node: CommandNode): CommandNode[] {
  return [node, ...node.children.flatMap(all)];
}
