import type { Invocation } from "./script.js";

/** Commands whose manuals say to evaluate their output. */
const PROGRAMS =
  /^(ssh-agent|direnv|pyenv|rbenv|nodenv|jenv|fnm|starship|zoxide|brew|opam|conda|mamba|micromamba|mise|asdf|rtx|thefuck|dircolors|lesspipe|keychain|docker-machine|minikube|luarocks|gpg-agent|register-python-argcomplete|resize|atuin|goenv|volta|gh|kubectl|helm|poetry|pipenv|hatch|npm|pip|uv|just|mcfly|navi|broot|zellij|rustup|deno|fzf)$/;
const WORDS =
  /^(-s|-c|-|init|hook|shellenv|env|activate|completion|completions|--path|docker-env|shell|shell\.\w+|shell-init|generate-shell-completion|--cmd|path|--alias|--bash|--zsh|--fish|--sh|gen-completions)$/;

/** `eval "$(direnv hook bash)"`: the tool sets up this shell. */
export const isShellHook = ({ program, argv }: Invocation): boolean =>
  PROGRAMS.test(program) &&
  (argv.length === 1 || argv.slice(1).some(({ text }) => WORDS.test(text))) &&
  !argv.some(({ text }) => /[/;|&`$]/.test(text.slice(1)) && !text.startsWith("/home"));
