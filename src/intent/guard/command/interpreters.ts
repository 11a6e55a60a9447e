import { type CommandArguments, readArguments } from "./arguments.js";
import { shellStringsIn } from "./code.js";
import { byName, type Invocation, type Word } from "./script.js";
import type { InnerCommand } from "./unwrap.js";

/** A program that runs code which it gets as text. */
export interface Interpreter {
  readonly language: string;
  /** Options whose value is code. */
  readonly code: string;
  /** Other options with a value. */
  readonly values: string;
  /** Without such an option, the first operand is code: `awk '{…}' file`. */
  readonly operand?: boolean;
}

const SHELL: Interpreter = { language: "sh", code: "", values: "-o -O --rcfile --init-file +o" };

/** By name, without a version: python3.12, lua5.4. */
const INTERPRETERS = byName<Interpreter>({
  ...Object.fromEntries(
    "sh bash dash ash zsh ksh mksh pdksh yash rbash fish csh tcsh osh hush busybox-sh"
      .split(" ")
      .map((name) => [name, SHELL]),
  ),
  python: { language: "python", code: "-c", values: "-m -W -X" },
  pypy: { language: "python", code: "-c", values: "-m -W -X" },
  ipython: { language: "python", code: "-c", values: "" },
  perl: { language: "perl", code: "-e -E", values: "-I -M -m" },
  ruby: { language: "ruby", code: "-e", values: "-I -r -C" },
  node: {
    language: "javascript",
    code: "-e -p --eval --print -pe",
    values: "-r --require --import --loader --env-file",
  },
  nodejs: { language: "javascript", code: "-e -p --eval --print -pe", values: "-r --require" },
  mongosh: { language: "javascript", code: "--eval", values: "--host --port -u -p -f --file" },
  mongo: { language: "javascript", code: "--eval", values: "--host --port -u -p" },
  bun: { language: "javascript", code: "-e -p --eval --print", values: "" },
  tsx: { language: "javascript", code: "-e --eval", values: "" },
  "ts-node": { language: "javascript", code: "-e --eval -p --print", values: "-P" },
  php: { language: "php", code: "-r -B -R -E", values: "-d -c -S -t" },
  lua: { language: "lua", code: "-e", values: "-l" },
  luajit: { language: "lua", code: "-e", values: "-l" },
  Rscript: { language: "r", code: "-e", values: "" },
  R: { language: "r", code: "-e", values: "" },
  julia: { language: "julia", code: "-e -E --eval --print", values: "" },
  osascript: { language: "applescript", code: "-e", values: "-l" },
  groovy: { language: "groovy", code: "-e", values: "" },
  elixir: { language: "elixir", code: "-e --eval", values: "" },
  erl: { language: "erlang", code: "-eval", values: "" },
  guile: { language: "scheme", code: "-c", values: "" },
  ...Object.fromEntries(
    "gjs raku perl6 racket scala kotlin swift ocaml ghc runghc sbcl ecl clisp janet fennel csi gosh qjs d8 jjs jrunscript hhvm nim jshell clojure bb lein byebug octave octave-cli maxima gnuplot"
      .split(" ")
      .map((name) => [name, { language: "other", code: "-e -c --eval -x --execute", values: "" }]),
  ),
  emacs: { language: "elisp", code: "--eval -eval --execute", values: "-l -f" },
  awk: { language: "awk", code: "", values: "-F -v -f --assign --field-separator", operand: true },
  gawk: { language: "awk", code: "-e --source", values: "-F -v -f --assign", operand: true },
  mawk: { language: "awk", code: "", values: "-F -v -f", operand: true },
  nawk: { language: "awk", code: "", values: "-F -v -f", operand: true },
  sed: { language: "sed", code: "-e --expression", values: "-f -l -E", operand: true },
  gsed: { language: "sed", code: "-e --expression", values: "-f -l", operand: true },
  vim: { language: "vim", code: "-c --cmd", values: "-u -S -i" },
  vi: { language: "vim", code: "-c --cmd", values: "-u" },
  nvim: { language: "vim", code: "-c --cmd", values: "-u -S" },
  ex: { language: "vim", code: "-c", values: "" },
  view: { language: "vim", code: "-c --cmd", values: "-u" },
  rvim: { language: "vim", code: "-c --cmd", values: "-u" },
  gdb: { language: "gdb", code: "-ex -iex --eval-command --ex", values: "-p -x" },
  powershell: {
    language: "powershell",
    code: "-c -command -Command -C",
    values: "-ExecutionPolicy -ep -File -f -WindowStyle -w -Version",
  },
  pwsh: {
    language: "powershell",
    code: "-c -command -Command -C",
    values: "-ExecutionPolicy -ep -File -f -WindowStyle -w",
  },
  cmd: { language: "cmd", code: "/c /k /C /K", values: "" },
  sqlite3: { language: "sqlite", code: "-cmd", values: "-separator -init" },
  psql: { language: "psql", code: "-c --command", values: "-h -p -U -d -f -v -o -F" },
  mysql: { language: "psql", code: "-e --execute", values: "-h -u -P -D -S" },
  mariadb: { language: "psql", code: "-e --execute", values: "-h -u -P -D -S" },
  tclsh: { language: "tcl", code: "-c", values: "" },
  wish: { language: "tcl", code: "-c", values: "" },
  expect: { language: "tcl", code: "-c", values: "-f" },
});

export function interpreterOf(program: string): Interpreter | undefined {
  return (
    INTERPRETERS.get(program) ??
    (/\d$/.test(program) ? INTERPRETERS.get(program.replace(/[\d.]+$/, "")) : undefined)
  );
}

export const isShell = (program: string): boolean => interpreterOf(program) === SHELL;

/** Options of gdb that look like several letters. */
const WHOLE = /^-(nx|nh|batch|batch-silent|quiet|silent|args)$/;

export function interpreterArguments(argv: readonly Word[], interpreter: Interpreter): CommandArguments {
  const { code, values, language } = interpreter;
  const words = language === "gdb" ? argv.filter(({ text }) => !WHOLE.test(text)) : argv;
  return readArguments(words.slice(1), new Set(`${code} ${values}`.split(" ")), true);
}

const PIECES_AT_MOST = 8;

/** The code in an interpreter's arguments and on its stdin. */
export function interpret(invocation: Invocation, program: string): InnerCommand[] {
  const interpreter = interpreterOf(program);
  if (!interpreter) return evalSubcommand(invocation, program);
  if (interpreter === SHELL) return shell(invocation, program);
  return codeOf(invocation, interpreter).flatMap((code) => interpretCode(program, interpreter, code));
}

/** The code, and the shell commands inside it. */
export function interpretCode(
  program: string,
  { language }: Interpreter,
  { text, span }: Pick<Word, "text" | "span">,
): InnerCommand[] {
  return [
    { kind: "code", label: program, language, text, span },
    ...shellStringsIn(language, text).map(
      (inner): InnerCommand => ({ kind: "script", label: `${program}: ${inner.by}`, text: inner.text, span }),
    ),
  ];
}

/** The code in the options, in the first operand, or on stdin when no file is named. */
export function codeOf({ argv, input }: Invocation, interpreter: Interpreter): Pick<Word, "text" | "span">[] {
  const { options, operands } = interpreterArguments(argv, interpreter);
  const names = interpreter.code.split(" ");
  if (interpreter.language === "cmd" || interpreter.language === "powershell") {
    const at = argv.findIndex(({ text }) => names.includes(text) || /^-c(o(m(m(a(nd?)?)?)?)?)?$/i.test(text));
    const rest = at < 0 ? (interpreter.language === "powershell" ? operands : []) : argv.slice(at + 1);
    return rest.length === 0
      ? stdin(argv, input)
      : [{ text: rest.map(({ text }) => text).join(" "), span: rest[0]!.span }];
  }
  if (interpreter.language === "sqlite" && operands.length > 1) return operands.slice(1);
  const commands = interpreter.language === "vim" ? operands.filter(({ text }) => /^\+\D/.test(text)) : [];
  if (commands.length > 0) return commands.map((word) => ({ ...word, text: word.text.slice(1) }));
  const given = options.flatMap(({ name, value }) => (value && names.includes(name) ? [value] : []));
  // Everything after python's -c belongs to the code; perl and others join several -e.
  if (given.length > 0) return given.slice(0, interpreter.language === "python" ? 1 : PIECES_AT_MOST);
  if (interpreter.operand) return options.some(({ name }) => name === "-f") ? [] : operands.slice(0, 1);
  if (options.some(({ name }) => name === "-m")) return [];
  return operands.length === 0 || operands[0]!.text === "-" ? stdin(argv, input) : [];
}

function stdin(argv: readonly Word[], input: Invocation["input"]): Pick<Word, "text" | "span">[] {
  return input && input.kind !== "file" ? [{ text: input.text, span: argv[0]!.span }] : [];
}

function shell({ argv, input }: Invocation, program: string): InnerCommand[] {
  const { options, operands } = interpreterArguments(argv, SHELL);
  const label = `${program} -c`;
  if (options.some(({ name }) => name === "-c" || name === "--command")) {
    const [code, zero, ...args] = operands;
    return code
      ? [{ kind: "script", label, text: code.text, span: code.span, args, ...(zero && { zero }) }]
      : [];
  }
  if (operands.length > 0 && operands[0]!.text !== "-" && !options.some(({ name }) => name === "-s"))
    return [];
  return input && input.kind !== "file"
    ? [
        {
          kind: "script",
          label: `${program} < stdin`,
          text: input.text,
          span: argv[0]!.span,
          args: operands.slice(1),
        },
      ]
    : [];
}

function evalSubcommand({ argv }: Invocation, program: string): InnerCommand[] {
  const code = argv[2];
  if (!/^(deno|crystal)$/.test(program) || argv[1]?.text !== "eval" || !code) return [];
  const language = program === "deno" ? "javascript" : "other";
  return [{ kind: "code", label: `${program} eval`, language, text: code.text, span: code.span }];
}
