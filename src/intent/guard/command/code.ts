import { byName } from "./script.js";

/** Shell commands inside code of other languages: the arguments of `system("…")` and similar calls. */
interface ShellString {
  /** The function that would run it. */
  readonly by: string;
  readonly text: string;
}

/** For each language: calls whose first argument is a string for a shell. Quotes and escapes are undone afterwards. */
const CALLS = byName<RegExp>({
  perl: /\b(system|exec|qx|open|popen)\s*[({,]?\s*(?:[^"'`]{0,24}?,\s*)?(["'`{])((?:\\.|(?!\2|\})[^\\])*)/g,
  ruby: /\b(system|exec|spawn|popen|capture2e?|capture3|IO\.popen|%x)\s*[({[]?\s*(["'`])((?:\\.|(?!\2)[^\\])*)/g,
  javascript:
    /(\bexec|\bexecSync|\bspawn|\bspawnSync|\bexecFile|\bexecFileSync|\$)\s*\(?\s*(["'`])((?:\\.|(?!\2)[^\\])*)/g,
  php: /\b(system|exec|shell_exec|passthru|popen|proc_open)\s*\(\s*(["'])((?:\\.|(?!\2)[^\\])*)/g,
  lua: /\b(execute|popen)\s*[(]?\s*(["'])((?:\\.|(?!\2)[^\\])*)/g,
  awk: /\b(system|getline)\s*\(?\s*(["'])((?:\\.|(?!\2)[^\\])*)/g,
  r: /\b(system|system2|shell)\s*\(\s*(["'])((?:\\.|(?!\2)[^\\])*)/g,
  julia: /\b(run|read)\s*\(\s*(`)((?:\\.|(?!\2)[^\\])*)/g,
  applescript: /\b(do shell script)\s*()"((?:\\.|[^"\\])*)/g,
  groovy: /()()["']((?:\\.|[^"'\\])*)["']\.execute/g,
  elixir: /\b(cmd|System\.cmd|os\.cmd)\s*\(?\s*(["'])((?:\\.|(?!\2)[^\\])*)/g,
  erlang: /\b(os:cmd)\s*\(\s*(["'])((?:\\.|(?!\2)[^\\])*)/g,
  scheme: /\((system\*?)\s+()"((?:\\.|[^"\\])*)/g,
  elisp:
    /\((shell-command(?:-to-string)?|call-process|start-process|async-shell-command)\s+()"((?:\\.|[^"\\])*)/g,
  vim: /(?:^|\|)\s*:?(?:silent!?\s*)?(!|(?:call\s+)?system\(|terminal\s|term\s|r\s*!|w\s*!|read\s*!)\s*()["']?([^\n]*)/g,
  gdb: /^\s*(shell|!|python\s+import os;\s*os\.system\()\s*()["']?([^\n]*)/g,
  sqlite: /\.(shell|system)\s+()([^\n]*)/g,
  psql: /(\\!|(?:^|;)\s*system\s)\s*()([^\n;]*)/g,
  other:
    /\b(system|exec\w*|popen|spawn\w*|callCommand|shell(?:-command)?|run|call|Process|cmd|sh|!)\s*[(!]{0,2}\s*(["'`])((?:\\.|(?!\2)[^\\])*)/g,
  tcl: /\b(exec|spawn|open)\s+()(?:"?\|)?([^\n;\]"]+)/g,
});

const STRINGS_AT_MOST = 32;

export function shellStringsIn(language: string, text: string): ShellString[] {
  if (language === "sed") return sedCommands(text);
  const calls = CALLS.get(language);
  if (!calls) return [];
  const strings: ShellString[] = [];
  for (const match of text.matchAll(calls)) {
    const [, by = "", , quoted = ""] = match;
    const plain = language === "vim" || language === "gdb" ? quoted.replace(/["')\s]+$/, "") : quoted;
    strings.push({ by, text: plain.replace(/\\(["'`\\$])/g, "$1") });
    if (strings.length >= STRINGS_AT_MOST) break;
  }
  if (language === "ruby" || language === "perl" || language === "php")
    for (const [, quoted = ""] of [...text.matchAll(/`([^`]*)`/g)].slice(0, STRINGS_AT_MOST))
      strings.push({ by: "``", text: quoted });
  if (language === "awk") strings.push(...awkPipes(text));
  return strings;
}

/** `"cmd" | getline` and `print | "cmd"` */
function awkPipes(text: string): ShellString[] {
  return [...text.matchAll(/"((?:\\.|[^"\\])*)"\s*\|&?\s*getline|\|&?\s*"((?:\\.|[^"\\])*)"/g)]
    .slice(0, STRINGS_AT_MOST)
    .map((match) => ({ by: "|", text: (match[1] ?? match[2] ?? "").replace(/\\(["\\])/g, "$1") }));
}

/** GNU sed runs `e CMD`, and the pattern space after `s/…/…/e`. */
function sedCommands(text: string): ShellString[] {
  const run = /(?:^|[;{\n]|\d)\s*e\s+([^;\n]+)/.exec(text)?.[1];
  const substituted = /s([^\w\s\\])(?:\\.|(?!\1).)*\1((?:\\.|(?!\1).)*)\1[gip\d]*e/.exec(text)?.[2];
  return [run, substituted].flatMap((command) =>
    command ? [{ by: "e", text: command.replace(/\\(.)/g, "$1") }] : [],
  );
}
