import { readArguments } from "./arguments.js";
import {
  type Interpreter,
  interpretCode,
  interpreterArguments,
  interpreterOf,
  isShell,
} from "./interpreters.js";
import { programOptions } from "./programs/options.js";
import { HOLE, type Invocation } from "./script.js";
import type { InnerCommand } from "./unwrap.js";

/**
 * Reads a file: its text, and whether it existed before the command. With `written`, only files that the command
 * wrote.
 */
type ReadFile = (
  path: string,
  written?: boolean,
) => { readonly text: string; readonly filed: boolean } | undefined;

/** What a command would run from a file: a script, a line of package.json, a recipe of a makefile. */
export function runsFromFile(invocation: Invocation, read: ReadFile): InnerCommand[] {
  const { program } = invocation;
  if (/^(npm|pnpm|yarn|bun)$/.test(program)) return packageScript(invocation, program, read);
  if (program === "make" || program === "gmake") return recipes(invocation, read);
  const interpreter = interpreterOf(program);
  if (interpreter && !isShell(program)) return writtenCode(invocation, interpreter, read);
  const path = scriptPath(invocation, program);
  const file = path ? (onStdin(path, invocation) ?? read(path)) : undefined;
  if (!path || !file || file.text === HOLE) return [];
  const byShell = isShell(program) || program === "source" || program === ".";
  return byShell || /^#!.*\b\w*sh\b/.test(file.text) || (!file.filed && !file.text.startsWith("#!"))
    ? [{ kind: "script", label: path, ...file, span: invocation.span }]
    : [];
}

/**
 * Code that the same command has just written. Python code in files is left out: the Python layer is stricter with
 * typed code than with files.
 */
function writtenCode(invocation: Invocation, interpreter: Interpreter, read: ReadFile): InnerCommand[] {
  const { argv, program, span } = invocation;
  if (interpreter.language === "python") return [];
  const { options, operands } = interpreterArguments(argv, interpreter);
  const named =
    options.find(({ name }) => name === "-f" || name === "--file")?.value ??
    (interpreter.operand ? undefined : operands[0]);
  const file = named ? (onStdin(named.text, invocation) ?? read(named.text, true)) : undefined;
  return file && !file.filed && file.text !== HOLE
    ? interpretCode(program, interpreter, { text: file.text, span })
    : [];
}

function onStdin(path: string, { input }: Invocation): ReturnType<ReadFile> {
  return input && /^\/(dev\/stdin|dev\/fd\/0|proc\/self\/fd\/0)$/.test(path)
    ? { text: input.text, filed: false }
    : undefined;
}

/** The file that a shell, `source` or the system itself would read as a script. */
function scriptPath({ argv }: Invocation, program: string): string | undefined {
  if (program === "source" || program === ".") return argv[1]?.text;
  const interpreter = interpreterOf(program);
  if (isShell(program)) {
    const { options, operands } = interpreterArguments(argv, interpreter!);
    return options.some(({ name }) => name === "-c" || name === "-s") ? undefined : operands[0]?.text;
  }
  return interpreter === undefined && argv[0]?.text.includes("/") ? argv[0].text : undefined;
}

const LIFECYCLE = /^(start|test|stop|restart|build|dev|install|prepare)$/;

function packageScript({ argv, span }: Invocation, program: string, read: ReadFile): InnerCommand[] {
  const { operands } = readArguments(argv.slice(1), programOptions(program));
  const [first, second] = operands.map(({ text }) => text);
  const name =
    first === "run" || first === "run-script" ? second : first && LIFECYCLE.test(first) ? first : undefined;
  if (name === undefined || (first === "install" && operands.length > 1)) return [];
  const scripts = scriptsIn(read("package.json")?.text);
  return [`pre${name}`, name, `post${name}`].flatMap((one): InnerCommand[] => {
    const text = scripts[one];
    return typeof text === "string"
      ? [{ kind: "script", label: `${program} run ${one}`, text, span, filed: true }]
      : [];
  });
}

function scriptsIn(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text ?? "{}").scripts ?? {};
  } catch {
    return {};
  }
}

const RECIPES_AT_MOST = 50;

/** The recipes of the named targets and of their prerequisites; of the first target when none is named. */
function recipes(invocation: Invocation, read: ReadFile): InnerCommand[] {
  const { argv, span } = invocation;
  const { operands, options } = readArguments(argv.slice(1), programOptions("make"));
  if (options.some(({ name }) => /^(-n|--dry-run|--just-print|-C|--directory)$/.test(name))) return [];
  const file = options.find(({ name }) => /^(-f|--file|--makefile)$/.test(name))?.value?.text;
  const makefile = file
    ? (onStdin(file === "-" ? "/dev/stdin" : file, invocation) ?? read(file))
    : (read("GNUmakefile") ?? read("makefile") ?? read("Makefile"));
  if (makefile === undefined) return [];
  const { targets, variables } = parseMakefile(makefile.text);
  const named = operands.map(({ text }) => text).filter((name) => !name.includes("="));
  const wanted =
    named.length > 0 ? named : [...targets.keys()].filter((name) => !name.startsWith(".")).slice(0, 1);
  const seen = new Set<string>();
  const lines: string[] = [];
  while (wanted.length > 0 && lines.length < RECIPES_AT_MOST) {
    const name = wanted.shift()!;
    const target = targets.get(name);
    if (!target || seen.has(name)) continue;
    seen.add(name);
    wanted.push(...target.needs);
    lines.push(...target.lines);
  }
  return lines.map((line) => ({
    kind: "script",
    label: "make",
    text: expandMake(line, variables),
    span,
    filed: makefile.filed,
  }));
}

interface Target {
  readonly needs: string[];
  readonly lines: string[];
}

function parseMakefile(text: string): { targets: Map<string, Target>; variables: Map<string, string> } {
  const targets = new Map<string, Target>();
  const variables = new Map<string, string>();
  let current: Target[] = [];
  for (const line of text.replace(/\\\n/g, " ").split("\n")) {
    const [, name, value] = /^(?:export\s+)?(\w+)\s*[:?+]?=\s*(.*)$/.exec(line) ?? [];
    const [, heads, needs = ""] = /^([\w./%-]+(?:\s+[\w./%-]+)*)\s*::?(?!=)\s*([^#;]*)/.exec(line) ?? [];
    if (line.startsWith("\t"))
      for (const target of current) target.lines.push(line.trim().replace(/^[@+-]+/, ""));
    else if (name && value !== undefined) variables.set(name, value);
    else if (heads) {
      const [, inline] = /;(.*)$/.exec(line) ?? [];
      const lines = inline ? [inline.trim().replace(/^[@+-]+/, "")] : [];
      const target = { needs: needs.split(/\s+/).filter(Boolean), lines };
      current = [target];
      for (const head of heads.split(/\s+/)) targets.set(head, target);
    }
  }
  return { targets, variables };
}

/** Expands make's `$(CC)`, and turns `$$x` into the shell's `$x`. */
function expandMake(line: string, variables: ReadonlyMap<string, string>): string {
  return line
    .replace(
      /\$[({](\w+)[)}]/g,
      (_, name: string) => variables.get(name)?.replace(/\$[({].*$/, "") ?? `make-${name}`,
    )
    .replace(/\$[({][^)}]*[)}]/g, "make-value")
    .replace(/\$[@<^*?+|]/g, "make-target")
    .replaceAll("$$", "$");
}
