import { isShellHook } from "../hooks.js";
import { codeOf, interpreterArguments, interpreterOf, isShell } from "../interpreters.js";
import { HOLE, type Invocation, isDynamic, type Word } from "../script.js";
import {
  type CheckContext,
  type CommandCheck,
  FETCHERS,
  placeOfWord,
  type RuleHit,
  ruleHit,
} from "./check.js";

/** Judges code that the guard cannot read before it runs. */
export const checkExecution: CommandCheck = (invocation, situation) => {
  const { argv } = invocation;
  if (argv.length === 0) return [];
  return [
    ...named(invocation, situation),
    ...evaluated(invocation, situation),
    ...interpreted(invocation, situation),
    ...downloaded(invocation, situation),
    ...escaped(invocation, situation),
  ];
};

/** Findings on the program's name, and on names that are only known at run time. */
function named({ argv, cwd, via }: Invocation, situation: CheckContext): RuleHit[] {
  const name = argv[0]!;
  const { program } = situation;
  if (name.from.some(isFetcher)) return [ruleHit("pipe-to-shell", name.span)];
  if (isDynamic(program) || (program === "" && isDynamic(name.text))) {
    const code = via.length > 0 && argv.length === 1 && name.text === HOLE;
    return [ruleHit(code ? "dynamic-code" : "dynamic-command", name.span)];
  }
  if (name.glob && /[*?[]/.test(name.text) && !/^(\[|\[\[|\?)$/.test(name.text))
    return [ruleHit("dynamic-command", name.span)];
  if (!name.text.includes("/")) return [];
  return placeOfWord(name, cwd, situation).area === "temporary" || name.text.startsWith("/dev/shm/")
    ? [ruleHit("run-from-temp", name.span)]
    : [];
}

function evaluated({ argv, span }: Invocation, { program }: CheckContext): RuleHit[] {
  const words = argv.slice(1);
  if (program === "exec" && words.length > 0) return [ruleHit("replace-shell", span)];
  if (program === "source" || program === ".") {
    const [file] = words;
    if (!file) return [];
    if (file.from.some(isFetcher)) return [ruleHit("pipe-to-shell", file.span)];
    return file.text === HOLE || file.text.startsWith("/dev/fd/") ? [ruleHit("dynamic-code", file.span)] : [];
  }
  if (program !== "eval" || words.length === 0) return [];
  const from = words.flatMap((word) => word.from);
  if (from.some(isFetcher)) return [ruleHit("pipe-to-shell", span)];
  if (from.length > 0 && from.every(isShellHook)) return [];
  return [ruleHit("bare-eval", span)];
}

/** Interpreters that run code from stdin, or from the output of other programs. */
function interpreted(invocation: Invocation, { program }: CheckContext): RuleHit[] {
  const { argv, input, span } = invocation;
  const interpreter = interpreterOf(program);
  const encoded =
    interpreter?.language === "powershell" && argv.find(({ text }) => /^[-/]e(c|nc?\w*)?$/i.test(text));
  if (encoded) return [ruleHit("encoded-shell", encoded.span)];
  const unchecked =
    interpreter?.language === "powershell" && argv.find(({ text }) => /^(bypass|unrestricted)$/i.test(text));
  if (unchecked) return [ruleHit("hijack", unchecked.span)];
  if (!interpreter || /^(awk|sed|vim|gdb|sqlite|cmd)$/.test(interpreter.language)) return [];
  const { options, operands } = interpreterArguments(argv, interpreter);
  const coded = options.some(({ name }) =>
    (isShell(program) ? "-c" : interpreter.code).split(" ").includes(name),
  );
  const script = operands[0];
  if (script?.from.some(isFetcher)) return [ruleHit("pipe-to-shell", script.span)];
  const code = codeOf(invocation, interpreter);
  const carriers = [...options.flatMap(({ value }) => value ?? []), ...(script ? [script] : [])];
  const made =
    carriers.find((word) => code.some(({ text }) => text === word.text) && word.from.length > 0) ??
    (script?.from.length ? script : undefined);
  if (made) return madeBy(made.from, made, coded);
  if (coded || options.some(({ name }) => name === "-m") || !input) return [];
  if (script && script.text !== "-" && !options.some(({ name }) => name === "-s")) return [];
  if (input.from.some(isFetcher)) return [ruleHit("pipe-to-shell", span)];
  if (input.from.some(isDecoder)) return [ruleHit("encoded-shell", span)];
  const known = !isDynamic(input.text) && !isShell(program);
  return input.kind === "here" || known ? [] : [ruleHit("pipe-to-interpreter", span)];
}

function madeBy(from: readonly Invocation[], word: Word, coded: boolean): RuleHit[] {
  if (from.some(isFetcher)) return [ruleHit("pipe-to-shell", word.span)];
  if (from.some(isDecoder)) return [ruleHit("encoded-shell", word.span)];
  return coded && isDynamic(word.text) && word.text.trim() === HOLE
    ? [ruleHit("dynamic-code", word.span)]
    : [];
}

function isFetcher(invocation: Invocation): boolean {
  const { program } = invocation;
  if (program === "openssl") return invocation.argv[1]?.text === "s_client";
  if (program === "aws" || program === "gsutil") return invocation.argv.some(({ text }) => text === "-");
  return FETCHERS.has(program);
}

function isDecoder(invocation: Invocation): boolean {
  const { program } = invocation;
  const flags = invocation.argv.slice(1).map(({ text }) => text);
  if (/^(base64|base32|basenc|gbase64)$/.test(program))
    return flags.some((text) => /^(-[a-z]*d[a-z]*|-D|--decode)$/i.test(text));
  if (program === "openssl") return flags.includes("-d");
  if (program === "xxd") return flags.some((text) => /^-[a-z]*r/.test(text));
  return /^(uudecode|zcat|gunzip|bzcat|xzcat|gzip|unxz|bunzip2|zstdcat|rev|tr|gpg)$/.test(program);
}

/** Options that name a helper program, and the helpers that are usual there. */
const HELPED =
  /^(git (-c|--exec|-x|--extcmd|--upload-pack|--receive-pack|ext::|--config-env)|git$|tar|rsync -e|ssh -o|man -P|zip -TT|sort --compress|split --filter|rg --pre|make (SHELL|--eval)|less|sed: e|socat|nc -e)/;
const HELPERS =
  /^(ssh|gzip|pigz|zstd|xz|bzip2|pbzip2|lz4|lzop|brotli|cat|less|more|delta|bat|diff-so-fancy|true|false|nc|cloudflared|connect-proxy|ssm|aws|gcloud|npm|npx|pnpm|yarn|make|cargo|go|pytest)$/;
/** Wrappers that people use to get a shell: in a container, on another machine, in a prepared environment. */
const OPENS_SHELLS =
  /^(docker|podman|nerdctl|kubectl|oc|k3s|lxc|incus|ssh|mosh|heroku|fly|vagrant|tmux|screen|toolbox|distrobox|flatpak|nix|devbox|devcontainer|poetry|pipenv|uv|conda|mamba|direnv|exec|command|env|time|alias|multipass|limactl|wsl|su|sudo|doas|npm run|make|\$\(…\)|<\(…\))/;

function escaped({ argv, via, span, input, redirects }: Invocation, { program }: CheckContext): RuleHit[] {
  const outer = via.at(-1);
  const interactive = isShell(program) && argv.some(({ text }) => /^-[a-z]*i[a-z]*$/.test(text));
  if (interactive && !argv.some(({ text }) => /^-[a-z]*c$/.test(text)))
    return [ruleHit("shell-escape", span)];
  const bare = isShell(program) && argv.slice(1).every(({ text }) => /^-[ipl]+$|^\0$/.test(text));
  // An interactive shell: nothing that is typed into it would be judged.
  if (outer === undefined)
    return bare && !input && redirects.length === 0 ? [ruleHit("shell-escape", span)] : [];
  if (bare && !OPENS_SHELLS.test(outer)) return [ruleHit("shell-escape", span)];
  if (program === "ztcp") return [ruleHit("reverse-shell", span)];
  if (!HELPED.test(outer) || (HELPERS.test(program) && !bare && !argv[0]!.text.includes("/"))) return [];
  return [ruleHit("shell-escape", span)];
}

/** Files that the same script has just downloaded. */
function downloaded(invocation: Invocation, situation: CheckContext): RuleHit[] {
  const { argv, cwd } = invocation;
  const { program, downloaded } = situation;
  note(invocation, situation);
  if (downloaded.size === 0) return [];
  const runs =
    isShell(program) ||
    interpreterOf(program) ||
    /^(source|\.|chmod|sudo|exec|nohup|open|start|java|dpkg|rpm|insmod|install)$/.test(program);
  const executable = program !== "chmod" || argv.some(({ text }) => /x|^[0-7]*[1357][0-7]*$/.test(text));
  const words = runs && executable ? argv : argv.slice(0, 1);
  return words.flatMap((word) =>
    downloaded.has(placeOfWord(word, cwd, situation).path) ? [ruleHit("download-and-run", word.span)] : [],
  );
}

function note(invocation: Invocation, situation: CheckContext): void {
  const { argv, cwd, redirects, input } = invocation;
  const { program, downloaded } = situation;
  const add = (word: Word) => downloaded.add(placeOfWord(word, cwd, situation).path);
  const fetched = FETCHERS.has(program) || input?.from.some(isFetcher);
  if (!fetched) return;
  for (const { operator, target } of redirects) if (operator !== "<") add(target);
  if (program === "tee") for (const word of argv.slice(1)) add(word);
  if (!/^(curl|wget|wget2|aria2c|fetch|axel)$/.test(program)) return;
  for (const [i, word] of argv.entries()) {
    if (/^(-o|-O|--output|--output-document)$/.test(word.text) && argv[i + 1]) add(argv[i + 1]!);
    const name =
      /^(?:--output|--output-document|--out)=(.+)$/.exec(word.text)?.[1] ??
      /^-[oO](.+)$/.exec(word.text)?.[1];
    if (name) add({ ...word, text: name });
    const url = /^(?:\w+:\/\/)?[^/?#]+\.[^/?#]+\/(?:[^?#]*\/)?([^/?#]+)/.exec(word.text)?.[1];
    if (url) add({ ...word, text: url });
  }
}
