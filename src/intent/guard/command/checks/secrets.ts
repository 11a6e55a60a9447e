import { optionValue, readArguments } from "../arguments.js";
import { isSensitive, pathPlace } from "../path-places.js";
import { programOptions } from "../programs/options.js";
import { byName, HOLE, type Invocation, type Word } from "../script.js";
import { type CheckContext, type CommandCheck, FETCHERS, type RuleHit, ruleHit } from "./check.js";

/** Names of variables that hold secrets. */
const SECRET =
  /(^|_)(API_?KEYS?|APIKEY|TOKENS?|SECRETS?|PASSW(OR)?D|PASS|PWD_HASH|CREDENTIALS?|PRIVATE_?KEY|ACCESS_?KEY(_ID)?|SIGNING_KEY|ENCRYPTION_KEY|MASTER_KEY|SECRET_KEY\w*|AUTH|DSN|DATABASE_URL\w*|REDIS_URL|MONGO(DB)?_UR[IL]|CONNECTION_STRING|CONN_STR|PASSPHRASE|COOKIE|JWT|PAT|WEBHOOK_URL|OPENROUTER\w*|HERMES_API_KEY|SERVICE_ACCOUNT\w*|KUBECONFIG_DATA|SAS)($|_)|_KEY$|KEY_BASE$|^(API|AWS|GH|NPM|PYPI|SLACK|OPENAI|ANTHROPIC)_?\w*(KEY|TOKEN|SECRET)\w*$/i;
const NOT_SECRET =
  /TOKENIZ|MAX_?TOKENS|PUBLIC_?KEY|SSH_AUTH_SOCK|GIT_AUTHOR|KEYBOARD|PASS(ED|ES|ING)|TOKEN_(COUNT|LIMIT)|NUM_TOKENS|PRIMARY_KEY|FOREIGN_KEY|CACHE_KEY|SORT_KEY|PARTITION_KEY|KEY_(NAME|PATH|FILE)$/i;

export const isSecretName = (name: string): boolean => SECRET.test(name) && !NOT_SECRET.test(name);

const PRINTERS = new Set(
  "echo printf print cat tee logger wall xxd od base64 hexdump rev tr sha256sum md5sum write say notify-send figlet cowsay less more head tail Write-Output Write-Host".split(
    " ",
  ),
);
const SENDERS = new Set([
  ...FETCHERS,
  ..."mail sendmail ping scp sftp rsync git ftp mosquitto_pub redis-cli aws gcloud nsupdate".split(" "),
]);

/** Programs that only look at a file's name or attributes, that write it, or that use it for its purpose. */
const NAMES_ONLY = new Set(
  "ls test [ [[ stat touch chmod chown chgrp mkdir rm rmdir unlink cd pushd du df find fd echo printf print export source . which tree dirname basename realpath readlink git set unset declare local alias docker-compose make npm npx yarn pnpm pip ssh ssh-keygen ssh-add ssh-copy-id trash rename mv dotenv dotenvx env kubectl helm wc-l true false : exit sudo doas nohup time timeout xargs watch nice command eval exec sh bash zsh dash if".split(
    " ",
  ),
);
/** Programs whose first operand is a pattern or a program, not a file. */
const PATTERN_FIRST = new Set("grep egrep fgrep rg ag ack sed awk gawk perl jq yq zgrep".split(" "));
/** Options whose value names a file that the program uses but does not print. */
const USES =
  /^(--env-file|--key|--cert|--cacert|--identity|-E|--cert-key|--kubeconfig|-var-file|--var-file|--from-env-file|--identity-file|--exclude|--include|-x|-X|--ignore|--ignore-file|--exclude-dir|--glob|-g|--exclude-from|-o|-O|--output|-C)$/;
const COPIES = new Set(
  "cp ln rsync install tar zip 7z scp docker podman gpg openssl sops age ansible-vault".split(" "),
);
/** Programs whose last operand is the target of a copy. */
const TO_LAST = /^(cp|rsync|install|scp|ln)$/;
/** Programs for which `-i FILE` is the key to log in with. */
const IDENTITY = /^(ssh|scp|sftp|rsync|ssh-copy-id|ansible|ansible-playbook|mosh|autossh)$/;
const GIT_READS = /^(show|diff|cat-file|grep|blame|archive|difftool)$/;

/** Judges programs that print, read or send secrets. */
export const checkSecrets: CommandCheck = (invocation, situation) => [
  ...dumps(invocation, situation),
  ...variables(invocation, situation),
  ...credentialFiles(invocation, situation),
];

/** Programs that print the whole environment. */
function dumps(invocation: Invocation, { program, narrowed }: CheckContext): RuleHit[] {
  const { argv, span } = invocation;
  if (narrowed.has(invocation)) return [];
  const isDump = DUMPS.get(program);
  if (!isDump) return [];
  const words = argv.slice(1).map(({ text }) => text);
  const names = words.filter((text) => !text.startsWith("-"));
  const dump = isDump(words, names);
  return dump ? [ruleHit(dump === true ? "secret-dump" : dump, span)] : [];
}

/** `env | grep NODE` prints only the lines that match. */
export function narrowedDumps(invocations: readonly Invocation[]): ReadonlySet<Invocation> {
  const all = new Set<Invocation>();
  for (const { program, argv, input } of invocations) {
    if (input?.kind !== "pipe" || !/grep$|^rg$/.test(program)) continue;
    const last = input.from.at(-1);
    if (
      !last ||
      !/^(env|printenv|set|export|declare)$/.test(last.program) ||
      !/^(e|f)?grep$|^rg$/.test(program)
    )
      continue;
    const { options, operands } = readArguments(argv.slice(1), programOptions(program));
    const pattern = optionValue({ options, operands }, "-e", "--regexp")?.text ?? operands[0]?.text ?? "";
    const wide = options.some(({ name }) => /^(-v|--invert-match|-f|--file)$/.test(name));
    if (!wide && NARROW.test(pattern) && !PROBING.test(pattern)) all.add(last);
  }
  return all;
}

/** Names of secrets, and parts of such names. */
const PROBING =
  /key|tok|sec|pas|pwd|cred|auth|api|aws|priv|cert|sess|cook|jwt|dsn|url|conn|hermes|anthropic|openai/i;
/** A few letters of a variable's name, as a search pattern. */
const NARROW = /^\^?[\w|\\(). ^-]{3,80}=?$/;

const DUMPS = byName<(words: readonly string[], names: readonly string[]) => boolean | RuleHit["rule"]>({
  env: (words, names) =>
    names.every((text) => /^\w+=/.test(text)) &&
    !words.some((text) => /^(-S|--split-string|--help|--version|-i|-|--ignore-environment)/.test(text)),
  printenv: (words, names) =>
    names.length === 0
      ? !words.some((text) => /^--(help|version)$/.test(text))
      : names.some(isSecretName) && "secret-variable",
  set: (words) => words.length === 0,
  export: (words, names) => names.length === 0 && !words.includes("-f"),
  declare: (words, names) =>
    names.length === 0
      ? !words.some((text) => /^-[fF]/.test(text))
      : words.some((text) => /^-p/.test(text)) && names.some(isSecretName) && "secret-variable",
  typeset: (words, names) => names.length === 0 && !words.some((text) => /^-[fF]/.test(text)),
  readonly: (words, names) => names.length === 0 && words.includes("-p"),
  ps: (words) =>
    words.some(
      (text) => /^(e|[a-z]*e[a-z]*ww?|auxe\w*|axe\w*|eww?\w*|-E)$/.test(text) && !text.startsWith("-e"),
    ),
  jq: (words) => words.some((text) => /^\s*(env|\$ENV)\s*$/.test(text)),
  npm: (words) => words[0] === "config" && words.some((text) => /authToken|_auth|_password/.test(text)),
  systemctl: (words) => words[0] === "show-environment",
  launchctl: (words) => words[0] === "export",
});

/** Short names in variables, and the services that they mean. */
const SERVICES = byName({
  gh: "github",
  gl: "gitlab",
  hf: "huggingface",
  do: "digitalocean",
  cf: "cloudflare",
});

/** `curl -H "Authorization: Bearer $ACME_API_KEY" https://api.acme.com/`: every URL belongs to who issued the secret. */
function goesToIssuer(name: string, argv: readonly Word[]): boolean {
  const [first = ""] = name.toLowerCase().split("_");
  const issuer = SERVICES.get(first) ?? first;
  const hosts = argv
    .slice(1)
    .flatMap(({ text }) => [...text.matchAll(URL_HOST)].map(([, host = ""]) => host));
  const [program] = argv;
  if (issuer.length < 4 || hosts.length === 0 || program?.text !== "curl") return false;
  if (argv.some(({ text }) => REDIRECTED.test(text))) return false;
  return hosts.every((host) => ISSUED.test(host) && host.split(".").at(-2) === issuer);
}

const URL_HOST = /https:\/\/([a-z\d.-]+)(?=[/:?#"'\s]|$)/g;
/** Under other endings anybody can have a name of a service's users. */
const ISSUED = /\.(?:com|org|net|ai|co|cloud|io|dev|example)$(?<!github\.io|gitlab\.io)/;
/** Options that send the request elsewhere. */
const REDIRECTED =
  /^(?:-x|--proxy|--preproxy|--socks5.*|--resolve|--connect-to|-K|--config|--url|-L|--location.*)$|^-[a-zA-Z]*L|^[^-][^/]*\.[a-z]{2,}(?:\/|$)|^http:/;

/** Secret variables that a program prints or sends to another machine. */
function variables({ argv, input, span }: Invocation, { program }: CheckContext): RuleHit[] {
  const rule = PRINTERS.has(program) ? "secret-variable" : SENDERS.has(program) ? "secret-sent" : undefined;
  if (!rule) return [];
  const fed = (input?.kind === "here" ? input.variables : []).filter(isSecretName);
  return [
    ...argv
      .slice(1)
      .flatMap((word) =>
        word.variables
          .filter((name) => isSecretName(name) && !(rule === "secret-sent" && goesToIssuer(name, argv)))
          .map((name) => ruleHit(rule, word.span, `$${name}`)),
      ),
    ...fed.map((name) => ruleHit(rule, span, `$${name}`)),
  ];
}

/** Credential files among the operands of a program that would read them. */
function credentialFiles(invocation: Invocation, situation: CheckContext): RuleHit[] {
  const { program } = situation;
  const { argv, redirects } = invocation;
  const read = redirects
    .filter(({ operator }) => operator === "<" || operator === "<>")
    .map(({ target }) => target);
  const words = [...read, ...(readsOperands(program, argv) ? readWords(program, argv) : [])];
  return words.flatMap((word) => credentialIn(word, invocation, situation));
}

function readsOperands(program: string, argv: readonly Word[]): boolean {
  if (program === "git") return argv.slice(1).some(({ text }) => GIT_READS.test(text));
  return !NAMES_ONLY.has(program);
}

function readWords(program: string, argv: readonly Word[]): Word[] {
  const { options, operands } = readArguments(argv.slice(1), programOptions(program));
  const identity = IDENTITY.test(program) ? "-i" : "";
  const values = options.flatMap(({ name, value }) =>
    value && !USES.test(name) && name !== identity ? [value] : [],
  );
  const skip =
    PATTERN_FIRST.has(program) && !options.some(({ name }) => /^(-e|-f|--regexp|--file|--files)$/.test(name))
      ? 1
      : 0;
  const last = TO_LAST.test(program) && operands.length > 1 ? -1 : operands.length;
  return [...operands.slice(skip, last), ...values];
}

/** Paths that only mean a credential file, anywhere in a word. */
const UNMISTAKABLE =
  /(?:^|[\s:'"(=@,])((?:~|\/[\w./-]*)?\/(?:etc\/g?shadow|\.ssh\/id_(?:rsa|ed25519|ecdsa|dsa)|\.aws\/credentials|\.git-credentials|\.netrc))(?![\w.-])/;

/** Programs that search many files: a wide search also finds secrets. */
const SEARCHES = /^(grep|egrep|fgrep|rg|ag|ack|strings)$/;
const recursive = (argv: readonly Word[]) =>
  argv[0]?.text !== "grep" || argv.some(({ text }) => /^-[a-zA-Z]*[rR]|^--recursive/.test(text));

function credentialIn(
  word: Word,
  { cwd, span, via, argv }: Invocation,
  { surroundings, program }: CheckContext,
): RuleHit[] {
  const text = word.text
    .replace(/^[\w.-]+=(?=[@<~/.])/, "")
    .replace(/^[@<]/, "")
    .replace(/^\w[\w./-]*:(?=[^/])/, "");
  const named = /shadow|id_|credentials|netrc/.test(word.text)
    ? UNMISTAKABLE.exec(word.text)?.[1]
    : undefined;
  if (named && /[\s:'"(=@]/.test(word.text)) return [ruleHit("secret-read", word.span, named)];
  if (text === "" || text.length > 512 || text.includes("\n")) return [];
  const place = pathPlace(text.replace(/^~(?=\/)/, surroundings.home), word.glob, cwd, surroundings);
  const sees = (kind: "credential" | "private" | "process") =>
    isSensitive(kind, place, word.glob, surroundings);
  const at = word.span.end > 0 ? word.span : span;
  const searched =
    /^(find |xargs|fd )/.test(via.at(-1) ?? "") && text.includes(HOLE) && /^(home|system)$/.test(place.area);
  if (searched || (SEARCHES.test(program) && place.whole && place.area !== "workspace" && recursive(argv)))
    return [ruleHit("private-data", at, place.path.replaceAll(HOLE, "…"))];
  if (sees("process")) return [ruleHit("process-memory", at, place.path)];
  if (sees("credential"))
    return [
      ruleHit(
        COPIES.has(program) && place.area === "workspace" ? "private-data" : "secret-read",
        at,
        place.path,
      ),
    ];
  return sees("private") && !/^(openssl|curl|nginx|vim?|chmod)$/.test(program)
    ? [ruleHit("private-data", at, place.path)]
    : [];
}
