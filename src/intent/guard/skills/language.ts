type ScriptLanguage =
  | "instructions"
  | "shell"
  | "python"
  | "javascript"
  | "powershell"
  | "manifest"
  | "other";

const BY_EXTENSION: Readonly<Record<string, ScriptLanguage>> = {
  md: "instructions",
  mdx: "instructions",
  markdown: "instructions",
  txt: "instructions",
  rst: "instructions",
  html: "instructions",
  prompt: "instructions",
  sh: "shell",
  bash: "shell",
  zsh: "shell",
  ksh: "shell",
  fish: "shell",
  command: "shell",
  envrc: "shell",
  py: "python",
  pyw: "python",
  ipynb: "python",
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsx: "javascript",
  ts: "javascript",
  mts: "javascript",
  cts: "javascript",
  tsx: "javascript",
  ps1: "powershell",
  psm1: "powershell",
  pth: "python",
  bat: "powershell",
  cmd: "powershell",
};

/** By the file's name, or by its first line when the name does not tell. */
export function languageOf(path: string, text: string): ScriptLanguage {
  const name = path.split("/").at(-1)!.toLowerCase();
  if (/^(?:package\.json|setup\.py|setup\.cfg|pyproject\.toml|makefile|dockerfile|justfile)$/.test(name))
    return name === "setup.py" ? "python" : "manifest";
  const known = name.includes(".") ? BY_EXTENSION[name.slice(name.lastIndexOf(".") + 1)] : undefined;
  if (known) return known;
  const first = text.slice(0, 200).split("\n")[0]!;
  if (first.startsWith("#!"))
    return /\bpython/.test(first) ? "python" : /\b(?:node|deno|bun)/.test(first) ? "javascript" : "shell";
  return name.includes(".") ? "other" : "instructions";
}
