import type { ShellScope } from "./scope.js";
import { byName, HOLE, type Invocation } from "./script.js";

/**
 * What a builtin changes in the shell that reads it. Its effects on the system are judged like those of any program.
 */
export function runBuiltin(invocation: Invocation, scope: ShellScope): void {
  BUILTINS.get(invocation.program)?.(invocation, scope);
}

const operandsOf = ({ argv }: Invocation) =>
  argv
    .slice(1)
    .map(({ text }) => text)
    .filter((text) => !/^-./.test(text));

/** `NAME=value` words set variables; the reader has already set those in assignments. */
function declare(invocation: Invocation, scope: ShellScope): void {
  for (const text of operandsOf(invocation)) {
    const [, name, value] = /^(\w+)=(.*)$/s.exec(text) ?? [];
    if (name && value !== undefined && scope.get(name) === undefined) scope.set(name, [value]);
  }
}

function changeFolder(invocation: Invocation, scope: ShellScope): void {
  const [to = scope.get("HOME")?.[0] ?? HOLE] = operandsOf(invocation);
  if (to === "-" || to.startsWith(HOLE)) scope.cwd = HOLE;
  else scope.cwd = to.startsWith("/") ? to : `${scope.cwd}/${to}`;
}

const BUILTINS = byName<(invocation: Invocation, scope: ShellScope) => void>({
  cd: changeFolder,
  pushd: changeFolder,
  popd: (_, scope) => {
    scope.cwd = HOLE;
  },
  export: declare,
  declare,
  typeset: declare,
  local: declare,
  readonly: declare,
  alias: (invocation, scope) => {
    for (const text of operandsOf(invocation)) {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
      if (name && value !== undefined) scope.aliases.set(name, value);
    }
  },
  unalias: (invocation, scope) => {
    for (const name of operandsOf(invocation)) scope.aliases.delete(name);
  },
  unset: (invocation, scope) => {
    for (const name of operandsOf(invocation)) {
      scope.forget(name);
      scope.functions.delete(name);
    }
  },
  set: ({ argv }, scope) => {
    const at = argv.findIndex(({ text }) => text === "--");
    if (at > 0) scope.arguments = argv.slice(at + 1).map(({ text }) => text);
  },
  shift: (_, scope) => {
    scope.arguments = scope.arguments?.slice(1);
  },
  read: (invocation, scope) => {
    const names = operandsOf(invocation);
    const text = invocation.input?.text;
    const words = text === undefined || text.includes(HOLE) ? undefined : text.trim().split(/\s+/);
    for (const [i, name] of names.entries()) {
      const last = i === names.length - 1;
      scope.set(name, [words ? (last ? words.slice(i).join(" ") : (words[i] ?? "")) : HOLE]);
    }
  },
  mapfile: (invocation, scope) => scope.set(operandsOf(invocation).at(-1) ?? "MAPFILE", [HOLE]),
  readarray: (invocation, scope) => scope.set(operandsOf(invocation).at(-1) ?? "MAPFILE", [HOLE]),
  getopts: (invocation, scope) => scope.set(operandsOf(invocation)[1] ?? "REPLY", [HOLE]),
  printf: ({ argv }, scope) => {
    if (argv[1]?.text === "-v" && argv[2]) scope.set(argv[2].text, [HOLE]);
  },
});

/** Builtins that take a variable's name: the shell evaluates a subscript in it. */
const NAMES =
  /^(declare|typeset|local|readonly|export|test|\[|unset|printf|read|getopts|wait|mapfile|readarray)$/;
const SUBSCRIPT = /\w\[.*[`$]/s;

/** The words of a builtin in which the shell expands substitutions even though they were quoted. */
export function evaluatedBy({ program, argv }: Invocation): readonly string[] {
  const words = argv.slice(1).map(({ text }) => text);
  if (program === "let") return words;
  if (program === "compgen" || program === "complete") {
    const list = words.indexOf("-W");
    return list < 0 ? [] : words.slice(list + 1, list + 2);
  }
  if (!NAMES.test(program)) return [];
  const numbers = words.some((text) => /^-[a-zA-Z]*i/.test(text));
  return words.filter((text) => (numbers ? /[`$]/ : SUBSCRIPT).test(text));
}
