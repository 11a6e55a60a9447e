import { type CommandArguments, optionValue, readArguments } from "../../intent/guard/command/arguments.js";
import { interpreterArguments, interpreterOf } from "../../intent/guard/command/interpreters.js";
import { programOptions } from "../../intent/guard/command/programs/options.js";
import { byName, type Invocation } from "../../intent/guard/command/script.js";
import { whyRunsAnything } from "./interpreters.js";

/** Languages whose first operand is a file of code. */
const SCRIPTED = new Set(
  "sh python perl ruby javascript php lua r julia groovy elixir scheme tcl applescript powershell".split(" "),
);

/** Options that name a file which is read as code, in any language. */
const FILE_OPTIONS =
  "-f --file -r --require --import --loader --env-file -S -x -init -l --rcfile --init-file -File -s";

/** Where tools that run what a project says look for it. */
const PROJECT_FILES = byName<readonly string[]>({
  make: ["GNUmakefile", "makefile", "Makefile"],
  gmake: ["GNUmakefile", "makefile", "Makefile"],
  npm: ["package.json"],
  pnpm: ["package.json"],
  yarn: ["package.json"],
  bun: ["package.json"],
  rake: ["Rakefile", "rakefile"],
  just: ["justfile", "Justfile", ".justfile"],
  task: ["Taskfile.yml", "Taskfile.yaml"],
  ninja: ["build.ninja"],
  composer: ["composer.json"],
  tox: ["tox.ini"],
});

/** The files that an invocation would run, as far as its words name them; relative to where it runs. */
export function scriptFiles(invocation: Invocation): readonly string[] {
  const { argv } = invocation;
  const own = argv[0]?.text.includes("/") ? [argv[0].text] : [];
  return [...own, ...projectFiles(invocation), ...interpreted(invocation)].filter((path) => path !== "");
}

function projectFiles({ argv, program }: Invocation): readonly string[] {
  const names = PROJECT_FILES.get(program);
  if (!names) return [];
  const args = readArguments(argv.slice(1), new Set([...programOptions(program), ...FOLDER_OPTIONS, "-f"]));
  const folder = optionValue(args, ...FOLDER_OPTIONS)?.text;
  const files = folder === undefined ? names : names.map((name) => `${folder}/${name}`);
  return [...files, ...(program.endsWith("make") ? named(args) : [])];
}

const FOLDER_OPTIONS = ["-C", "--directory", "--prefix", "--cwd", "--dir"];

function interpreted(invocation: Invocation): readonly string[] {
  const { argv, program, redirects } = invocation;
  const interpreter = interpreterOf(program);
  if (!interpreter) return byExtension(argv.map(({ text }) => text));
  const { language, code, values } = interpreter;
  const args = interpreterArguments(argv, { ...interpreter, values: `${values} ${FILE_OPTIONS}` });
  const codes = code.split(" ");
  const given = args.options.some(({ name }) => name === "-c" || codes.includes(name));
  const [first, second] = args.operands;
  const module = language === "python" ? optionValue(args, "-m")?.text.replaceAll(".", "/") : undefined;
  return [
    ...named(args),
    ...(module ? [`${module}.py`, `${module}/__main__.py`] : []),
    ...(SCRIPTED.has(language) && !given && !module
      ? [(first?.text === "run" ? second?.text : first?.text) ?? ""]
      : []),
    ...redirects.filter(({ operator }) => operator === "<").map(({ target }) => target.text),
    ...piped(invocation),
  ];
}

const CODE =
  /\.(sh|bash|zsh|py|rb|pl|php|lua|[mc]?[jt]s|[jt]sx|jar|java|go|rs|kts?|scala|groovy|exs?|jl|r|tcl|sql|ps1|bat|cmd|wasm|ya?ml)$/i;

/** `java -jar x.jar`, `go run x.go`, `deno run x.ts`, `uv run x.py`: what else runs code says so by its name. */
function byExtension(words: readonly string[]): readonly string[] {
  if (!whyRunsAnything(words)) return [];
  return words
    .slice(1)
    .map((word) => word.replace(/^-[^=]*=/, ""))
    .filter((word) => CODE.test(word));
}

/** `cat x.sh | bash`: what is read to the left of the pipe is what runs. */
function piped({ input }: Invocation): readonly string[] {
  if (input?.kind !== "pipe") return [];
  return input.from.flatMap(({ argv, redirects }) =>
    [...argv.slice(1), ...redirects.map(({ target }) => target)]
      .map(({ text }) => text)
      .filter((text) => !text.startsWith("-") && /[./]/.test(text)),
  );
}

function named({ options }: CommandArguments): readonly string[] {
  const names = FILE_OPTIONS.split(" ");
  return options.flatMap(({ name, value }) => (value && names.includes(name) ? [value.text] : []));
}
