import type { Span } from "../finding.js";
import { optionValue, readArguments } from "./arguments.js";
import { fdExec, findExec, parallelCommands, xargsCommands } from "./fed-commands.js";
import { isShellHook } from "./hooks.js";
import { interpret, interpreterOf } from "./interpreters.js";
import { programOptions } from "./programs/options.js";
import { byName, HOLE, type Invocation, type Word } from "./script.js";
import { type Unwrapping, wrapperOptions, wrappersOf } from "./wrappers.js";

/** What an invocation would itself run. */
export type InnerCommand =
  | {
      readonly kind: "argv";
      readonly label: string;
      readonly argv: readonly Word[];
      readonly suspected?: boolean;
    }
  | {
      readonly kind: "script";
      readonly label: string;
      readonly text: string;
      readonly span: Span;
      readonly args?: readonly Word[];
      /** The value of `$0` there. */
      readonly zero?: Word;
      /** It runs in the same shell, with the variables known there. */
      readonly here?: boolean;
      /** It comes from a file of the project. */
      readonly filed?: boolean;
      /** The guard only suspects that it would run. */
      readonly suspected?: boolean;
    }
  | {
      readonly kind: "code";
      readonly label: string;
      readonly language: string;
      readonly text: string;
      readonly span: Span;
    };

/** One step of unwrapping; the reader repeats it until nothing is wrapped. */
export function innerCommands(invocation: Invocation): InnerCommand[] {
  const { program } = invocation;
  const special = SPECIAL.get(program)?.(invocation, program) ?? [];
  const interpreted = interpret(invocation, program);
  const wrapped = wrappersOf(program).flatMap((wrapper) => unwrapBy(wrapper, invocation, program));
  return [...special, ...interpreted, ...wrapped];
}

function unwrapBy(wrapper: Unwrapping, { argv, span }: Invocation, program: string): InnerCommand[] {
  const words = argv.slice(1);
  const values = wrapperOptions(program);
  const leading = readArguments(words, values, true).operands;
  if (wrapper.only && !wrapper.only.includes(leading[0]?.text ?? "")) return [];
  const operands = wrapper.only ? readNested(words, values, wrapper.skip ?? 1) : leading;
  const label = wrapper.only ? `${program} ${operands[0]?.text}` : program;
  const inner: InnerCommand[] = [];
  const { scripts } = wrapper;
  if (scripts)
    for (const { name, value } of readArguments(words, new Set([...values, ...scripts])).options)
      if (value && scripts.includes(name))
        inner.push({ kind: "script", label, text: value.text, span: value.span });
  if (wrapper.each)
    return [...inner, ...operands.slice(wrapper.skip ?? 0).flatMap((one) => script(label, one))];
  const command = commandAmong(wrapper, operands, words);
  if (command.length === 0 || wrapper.none) return inner;
  // One word with blanks is no program's name; the wrapper's own shell would read it.
  if (wrapper.joined || (command.length === 1 && /\s/.test(command[0]!.text)))
    inner.push({
      kind: "script",
      label,
      text: command.map(({ text }) => text).join(" "),
      span: command[0]!.span,
    });
  // Words with blanks: their author did not mean them to be split.
  if (!wrapper.joined || (command.length > 1 && command.some(({ text }) => /\s/.test(text))))
    inner.push({ kind: "argv", label, argv: command });
  return inner.map((one) => ({ ...one, span: one.kind === "argv" ? span : one.span }) as InnerCommand);
}

/** Options of the outer program may come before and after its operands: `docker -H x exec -it c CMD`. */
function readNested(words: readonly Word[], values: ReadonlySet<string>, own: number): readonly Word[] {
  const operands: Word[] = [];
  let rest = words;
  for (let taken = 0; taken < own; taken++) {
    const { operands: found } = readArguments(rest, values, true);
    if (found.length === 0) break;
    operands.push(found[0]!);
    rest = rest.slice(rest.length - found.length + 1);
  }
  // The words after them are the command, with its options.
  return [...operands, ...readArguments(rest, values, true).operands];
}

function commandAmong(
  wrapper: Unwrapping,
  operands: readonly Word[],
  words: readonly Word[],
): readonly Word[] {
  if (wrapper.separator) {
    const at = words.findIndex(({ text }) => text === "--");
    return at < 0 ? dropDashes(operands.slice(wrapper.skip ?? 0)) : words.slice(at + 1);
  }
  if (wrapper.after) {
    const { after } = wrapper;
    const at = words.findIndex(({ text }) => after.includes(text));
    return at < 0 ? [] : words.slice(at + 1);
  }
  let command = operands.slice(wrapper.skip ?? (wrapper.only ? 1 : 0));
  // A lone dash means `env -i`.
  if (wrapper.assigns) while (/^(\w+=|-$)/.test(command[0]?.text ?? "")) command = command.slice(1);
  return dropDashes(command);
}

const dropDashes = (words: readonly Word[]) => (words[0]?.text === "--" ? words.slice(1) : words);

/** A word that is itself a script. */
const script = (label: string, of: Word | undefined): InnerCommand[] =>
  of ? scriptAt(label, of, of.text) : [];

/** A script in a word, or made from it. */
export const scriptAt = (label: string, at: Word | undefined, text: string | undefined): InnerCommand[] =>
  at && text !== undefined ? [{ kind: "script", label, text, span: at.span }] : [];

const isHooked = (argv: readonly Word[]) => {
  const from = argv.flatMap((one) => one.from);
  return from.length > 0 && from.every(isShellHook);
};

/** The value of an option is a script; `others` are further options with a value. */
const optionScript = (label: string, argv: readonly Word[], name: string, others: string): InnerCommand[] =>
  script(label, optionValue(readArguments(argv.slice(1), new Set([name, ...others.split(" ")])), name));

/** Programs that take the command that they run in their own way. */
const SPECIAL = byName<(invocation: Invocation, program: string) => InnerCommand[]>({
  env: ({ argv }) => {
    const split = optionValue(
      readArguments(argv.slice(1), wrapperOptions("env"), true),
      "-S",
      "--split-string",
      "-vS",
      "-iS",
    );
    const at = argv.findIndex((w) => w === split || (split && w.text.endsWith(split.text)));
    return scriptAt(
      "env -S",
      split,
      split && [split.text, ...argv.slice(at + 1).map(({ text }) => quote(text))].join(" "),
    );
  },
  eval: ({ argv }) =>
    argv.length < 2 || isHooked(argv)
      ? []
      : [
          {
            kind: "script",
            label: "eval",
            text: argv
              .slice(1)
              .map(({ text }) => text)
              .join(" "),
            span: argv[1]!.span,
            here: true,
          },
        ],
  trap: ({ argv }) => {
    const [handler] = argv.slice(1).filter(({ text }) => !/^-[lp-]?$/.test(text));
    return argv.length > 2 ? script("trap", handler) : [];
  },
  mapfile: ({ argv }) => optionScript("mapfile -C", argv, "-C", "-n -O -s -u -c -d"),
  readarray: ({ argv }) => optionScript("readarray -C", argv, "-C", "-n -O -s -u -c -d"),
  complete: ({ argv }) => optionScript("complete -C", argv, "-C", "-o -A -G -W -F -X -P -S"),
  compgen: ({ argv }) => optionScript("compgen -C", argv, "-C", "-o -A -G -W -F -X -P -S"),
  bind: ({ argv }) =>
    argv.flatMap((w) => scriptAt("bind -x", w, /^\s*"[^"]*"\s*:?\s*(.*)$/s.exec(w.text)?.[1])),
  jobs: ({ argv }) =>
    argv[1]?.text === "-x" ? [{ kind: "argv", label: "jobs -x", argv: argv.slice(2) }] : [],
  xargs: (invocation) => xargsCommands(invocation),
  parallel: (invocation) => parallelCommands(invocation),
  find: ({ argv }) => findExec(argv),
  fd: ({ argv }) => fdExec(argv),
  fdfind: ({ argv }) => fdExec(argv),
  busybox: ({ argv }) => [
    { kind: "argv", label: "busybox", argv: argv.slice(1).filter(({ text }) => text !== "--") },
  ],
  toybox: ({ argv }) => [{ kind: "argv", label: "toybox", argv: argv.slice(1) }],
  gh: ({ argv }) => aliasRuns(argv),
  glab: ({ argv }) => aliasRuns(argv),
  git: ({ argv }) => gitRuns(argv),
  make: ({ argv }) => makeRuns(argv),
  gmake: ({ argv }) => makeRuns(argv),
  tar: ({ argv }) => tarRuns(argv),
  bsdtar: ({ argv }) => tarRuns(argv),
  "apt-get": ({ argv }) => aptRuns(argv),
  apt: ({ argv }) => aptRuns(argv),
  aptitude: ({ argv }) => aptRuns(argv),
  rpm: ({ argv }) => rpmRuns(argv),
  rpmbuild: ({ argv }) => rpmRuns(argv),
  rpmspec: ({ argv }) => rpmRuns(argv),
  rsync: ({ argv }) =>
    script(
      "rsync -e",
      optionValue(readArguments(argv.slice(1), new Set(["-e"])), "-e", "--rsh", "--rsync-path"),
    ),
  ssh: ({ argv }) => sshRuns(argv),
  scp: ({ argv }) => sshRuns(argv),
  sftp: ({ argv }) => sshRuns(argv),
  crontab: ({ argv, input }) =>
    input && argv.length <= 2
      ? [{ kind: "script", label: "crontab", text: cronCommands(input.text), span: argv[0]!.span }]
      : [],
  at: ({ argv, input }) => scheduled("at", argv, input?.text),
  batch: ({ argv, input }) => scheduled("batch", argv, input?.text),
  less: ({ argv }) => argv.flatMap((w) => scriptAt("less", w, /^\+[^!]*!(.*)$/s.exec(w.text)?.[1])),
  man: ({ argv }) => [
    ...script("man -P", optionValue(readArguments(argv.slice(1), new Set(["-P"])), "-P", "--pager")),
    ...argv.flatMap((w) => scriptAt("man -P", w, /^(?:-H|--html=)(.+)$/s.exec(w.text)?.[1])),
  ],
  zip: ({ argv }) =>
    script("zip -TT", optionValue(readArguments(argv.slice(1), new Set(["-TT"])), "-TT", "--unzip-command")),
  sort: ({ argv }) =>
    script("sort --compress-program", optionValue(readArguments(argv.slice(1)), "--compress-program")),
  split: ({ argv }) => script("split --filter", optionValue(readArguments(argv.slice(1)), "--filter")),
  rg: ({ argv }) =>
    script(
      "rg --pre",
      optionValue(
        readArguments(argv.slice(1), new Set(["--pre", "--hostname-bin"])),
        "--pre",
        "--hostname-bin",
      ),
    ),
  socat: ({ argv }) =>
    argv
      .slice(1)
      .flatMap((w) =>
        scriptAt(
          "socat",
          w,
          /^(?:exec|system):(.*?)(?:,(?:pty|stderr|setsid|sigint|sane|fork|nofork|pipes).*)?$/is.exec(
            w.text,
          )?.[1],
        ),
      ),
  nc: ({ argv }) => ncRuns(argv),
  ncat: ({ argv }) => ncRuns(argv),
  netcat: ({ argv }) => ncRuns(argv),
});

/** Whether a table says how the program runs other programs: what it runs is judged by itself. */
export const wrapsOthers = (program: string): boolean =>
  SPECIAL.has(program) || wrappersOf(program).length > 0 || interpreterOf(program) !== undefined;

/** For a shell that reads the words again. */
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const RUNS_ITS_VALUE =
  /^(core\.(sshcommand|pager|editor|fsmonitor|askpass|gitproxy|alternaterefscommand)|pager\.|alias\.|sequence\.editor|diff\.external|diff\..*\.(command|textconv)|(difftool|mergetool)\..*\.cmd|merge\..*\.driver|filter\..*\.(clean|smudge|process)|credential\.helper|gpg\.(.*\.)?program|uploadpack\.packobjectshook|interactive\.difffilter|browser\..*\.cmd|man\..*\.cmd|ssh\.variant|trailer\..*\.(command|cmd)|receive\.procreceive|web\.browser|sendemail\.|remote\..*\.(uploadpack|receivepack|vcs))/i;

/** A program that git's configuration starts. `true` and `false` are values of core.fsmonitor, not programs. */
function gitConfigured(setting: string): string | undefined {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(setting) ?? [];
  if (!key || value === undefined || !RUNS_ITS_VALUE.test(key)) return undefined;
  if (/^alias\./i.test(key)) return value.startsWith("!") ? value.slice(1) : undefined;
  if (/^credential\.helper$/i.test(key)) return value.startsWith("!") ? value.slice(1) : undefined;
  return value.replace(/^!/, "");
}

/** `gh alias set x '!CMD'` */
function aliasRuns(argv: readonly Word[]): InnerCommand[] {
  const words = argv.map(({ text }) => text);
  if (words[1] !== "alias" || words[2] !== "set") return [];
  const shell = words.some((text) => text === "--shell" || text === "-s");
  return argv
    .slice(3)
    .flatMap((w) =>
      scriptAt("gh alias set", w, /^!/.test(w.text) || shell ? w.text.replace(/^!/, "") : undefined),
    )
    .filter((one) => one.kind === "script" && /\s/.test(one.text));
}

/** Subcommands with an option whose value is a program. */
const RUNS_NEXT =
  /^(rebase (-x|--exec)|difftool (-x|--extcmd)|(clone|fetch-pack|ls-remote|fetch|pull) (-u|--upload-pack)|(push|send-pack) (--receive-pack|--exec)|(archive|ls-remote|fetch-pack) --exec)$/;

function gitRuns(argv: readonly Word[]): InnerCommand[] {
  const inner: InnerCommand[] = [];
  const { operands } = readArguments(argv.slice(1), programOptions("git"), true);
  const sub = operands[0]?.text;
  for (let i = 1; i < argv.length; i++) {
    const { text } = argv[i]!;
    const next = argv[i + 1];
    const attached = /^-c(?=\w+\.)(.*)$/s.exec(text)?.[1];
    if (attached) inner.push(...scriptAt("git -c", argv[i], gitConfigured(attached)));
    const pager = sub === "grep" ? /^-O(.+)$/s.exec(text)?.[1] : undefined;
    if (pager) inner.push(...scriptAt("git grep -O", argv[i], pager));
    if (text === "-c" && next) inner.push(...scriptAt("git -c", next, gitConfigured(next.text)));
    if (text.startsWith("--config-env=")) inner.push(...scriptAt("git --config-env", argv[i], HOLE));
    if (next && RUNS_NEXT.test(`${sub} ${text}`)) inner.push(...scriptAt(`git ${text}`, next, next.text));
    const [, value] =
      /^(?:--exec|--extcmd|--upload-pack|--receive-pack|--open-files-in-pager)=(.*)$/s.exec(text) ?? [];
    if (value) inner.push(...scriptAt("git", argv[i], value));
    const ext = /^ext::(.*)$/s.exec(text)?.[1];
    if (ext)
      inner.push(
        ...scriptAt(
          "git ext::",
          argv[i],
          ext.replace(/%(.)/g, (_, c) => (c === "S" || c === " " ? " " : c)),
        ),
      );
  }
  const words = argv.map(({ text }) => text);
  const foreach = words.indexOf("foreach");
  if (words.includes("submodule") && foreach > 0) {
    const command = argv.slice(foreach + 1).filter(({ text }) => !/^--(recursive|quiet)$/.test(text));
    if (command.length > 0)
      inner.push(...scriptAt("git submodule foreach", command[0], command.map(({ text }) => text).join(" ")));
  }
  const filter = argv.findIndex(({ text }) => /^--(tree|index|msg|env|parent|commit)-filter$/.test(text));
  if (filter > 0) inner.push(...script("git filter-branch", argv[filter + 1]));
  const run = words.indexOf("run");
  if (words.includes("bisect") && run > 0)
    inner.push({ kind: "argv", label: "git bisect run", argv: argv.slice(run + 1) });
  return inner;
}

/** `make SHELL=x` runs every line with x; `--eval` is a piece of a makefile. */
function makeRuns(argv: readonly Word[]): InnerCommand[] {
  return argv.flatMap((w, i) => {
    const shell = /^(?:SHELL|MAKESHELL)=(.*)$/s.exec(w.text)?.[1];
    const evaluated =
      /^--eval=(.*)$/s.exec(w.text)?.[1] ??
      (/^(--eval|-E)$/.test(argv[i - 1]?.text ?? "") ? w.text : undefined);
    const inside =
      /\$\((?:shell\s+)?(.*)\)/s.exec(evaluated ?? "")?.[1] ?? evaluated?.replace(/^[^:]*:;?/, "");
    return [...scriptAt("make SHELL=", w, shell), ...scriptAt("make --eval", w, inside)];
  });
}

function tarRuns(argv: readonly Word[]): InnerCommand[] {
  const parsed = readArguments(
    argv.slice(1),
    new Set([
      "-I",
      "-F",
      "-f",
      "-C",
      "--checkpoint-action",
      "--to-command",
      "--use-compress-program",
      "--info-script",
      "--new-volume-script",
      "--rsh-command",
    ]),
  );
  return parsed.options.flatMap(({ name, value }) => {
    if (name === "--checkpoint-action")
      return scriptAt("tar", value, /^exec=(.*)$/s.exec(value?.text ?? "")?.[1]);
    if (
      /^(--to-command|--use-compress-program|-I|-F|--info-script|--new-volume-script|--rsh-command)$/.test(
        name,
      )
    )
      return script(`tar ${name}`, value);
    return [];
  });
}

function sshRuns(argv: readonly Word[]): InnerCommand[] {
  const { options } = readArguments(argv.slice(1), wrapperOptions("ssh"));
  return options.flatMap(({ name, value }) => {
    const command = /^(?:ProxyCommand|LocalCommand|KnownHostsCommand)[= ]\s*(.*)$/is.exec(
      value?.text ?? "",
    )?.[1];
    return name === "-o" && command && command !== "none" ? scriptAt("ssh -o", value, command) : [];
  });
}

function ncRuns(argv: readonly Word[]): InnerCommand[] {
  const parsed = readArguments(
    argv.slice(1),
    new Set(["-e", "-c", "-g", "-p", "-s", "-w", "-i", "-q", "--exec", "--sh-exec", "--lua-exec"]),
  );
  return script("nc -e", optionValue(parsed, "-e", "-c", "--exec", "--sh-exec"));
}

/** Settings of apt whose value is a command: `-o APT::Update::Pre-Invoke::=CMD`. */
const aptRuns = (argv: readonly Word[]): InnerCommand[] =>
  argv.flatMap((w) =>
    scriptAt(
      "apt -o",
      w,
      /(?:Invoke|Pre-Install-Pkgs|Pager|Editor|ProxyAutoDetect)[\w:-]*=(.*)$/is.exec(w.text)?.[1],
    ),
  );

/** `%(CMD)` stands for the output of the command. */
const rpmRuns = (argv: readonly Word[]): InnerCommand[] =>
  argv.flatMap((w) =>
    [...w.text.matchAll(/%\(([^)]*)\)/g)].flatMap(([, command]) => scriptAt("rpm --eval", w, command)),
  );

const cronCommands = (text: string) =>
  text
    .split("\n")
    .map((line) => line.replace(/^\s*(@\w+|(\S+\s+){5})/, ""))
    .join("\n");

function scheduled(label: string, argv: readonly Word[], text: string | undefined): InnerCommand[] {
  return text === undefined ? [] : [{ kind: "script", label, text, span: argv[0]!.span }];
}
