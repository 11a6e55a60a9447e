import type { CommandNode } from "../options/command-tree.js";
import { allCommands, optionNames } from "./completion-bash.js";

/** As for bash, with a description of each. */
export function zshCompletion(root: CommandNode): string {
  const nodes = allCommands(root);
  return `#compdef hermes
# zsh completion of hermes: source <(hermes completion zsh), or a file _hermes in a folder of $fpath
_hermes() {
  local path_='hermes' word i arguments=0
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    case "$path_ $word" in
${nodes
  .slice(1)
  .map(({ path }) => `      '${path.join(" ")}') path_='${path.join(" ")}' ;;`)
  .join("\n")}
      *' '-*) ;;
      *) arguments=$((arguments + 1)) ;;
    esac
  done
  local -a commands options values
  case $path_ in
${nodes.map(commandCase).join("\n")}
  esac
  case "$path_ \${words[CURRENT - 1]}" in
${nodes.flatMap(valueCases).join("\n")}
  esac
  if (( \${#values} )); then
    compadd -a values
  elif [[ \${words[CURRENT]} == -* ]]; then
    _describe 'option' options
  elif (( arguments == 0 && \${#commands} )); then
    _describe 'command' commands
  else
    _files
  fi
}
if [ "$funcstack[1]" = "_hermes" ]; then
  _hermes "$@"
else
  compdef _hermes hermes
fi
`;
}

function commandCase({ path, children, options, arguments: [first] }: CommandNode): string {
  const commands = [
    ...children.map((child) => described(child.path.at(-1)!, child.description)),
    ...(first?.values ?? []).map((value) => quoted(value)),
  ];
  const words = options.flatMap((option) =>
    optionNames(option).map((name) => described(name, option.description)),
  );
  return `    '${path.join(" ")}') commands=(${commands.join(" ")}) options=(${words.join(" ")}) ;;`;
}

function valueCases({ path, options }: CommandNode): string[] {
  return options
    .filter(({ values, takesValue }) => takesValue && values.length > 0)
    .map((option) => {
      const words = optionNames(option).map((name) => `'${path.join(" ")} ${name}'`);
      return `    ${words.join(" | ")}) values=(${option.values.map(quoted).join(" ")}) ;;`;
    });
}

const described = (word: string, text: string) => quoted(`${word.replaceAll(":", "\\:")}:${text}`);
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
