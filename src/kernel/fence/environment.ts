/**
 * Variables that any program may see: search paths, output settings, language. None of them holds a secret.
 */
const HARMLESS = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "PWD",
  "TERM",
  "COLORTERM",
  "COLUMNS",
  "LINES",
  "NO_COLOR",
  "FORCE_COLOR",
  "LANG",
  "LANGUAGE",
  "LC_*",
  "TZ",
  "EDITOR",
  "VISUAL",
  "PAGER",
  "HOSTNAME",
  "CI",
];

type Environment = Readonly<Record<string, string | undefined>>;

/** The safe variables, and those that `keep` names; a `*` matches any text. */
export function cleanEnvironment(
  env: Environment,
  keep: readonly string[],
): Record<string, string | undefined> {
  const tests = [...HARMLESS, ...keep].map(pattern);
  return Object.fromEntries(Object.entries(env).filter(([name]) => tests.some((test) => test.test(name))));
}

function pattern(text: string): RegExp {
  const parts = text.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s");
}
