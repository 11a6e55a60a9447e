import { type FileAccess, fileAccesses } from "../files.js";
import { isSensitive, type PathPlace } from "../path-places.js";
import { HOLE, type Invocation, type Word } from "../script.js";
import { type CheckContext, type CommandCheck, placeOfWord, type RuleHit, ruleHit } from "./check.js";

/** Judges files that a command deletes, writes or shares, by where they are. */
export const checkFiles: CommandCheck = (invocation, situation) =>
  fileAccesses(invocation).flatMap((file) => {
    const place = placeOfWord(file.path, invocation.cwd, situation);
    const rule = ruleOf(file, place, invocation, situation);
    const span = file.path.span.end > 0 ? file.path.span : invocation.span;
    return rule ? [ruleHit(rule, span, place.path.replaceAll(HOLE, "…"))] : [];
  });

function ruleOf(
  file: FileAccess,
  place: PathPlace,
  invocation: Invocation,
  situation: CheckContext,
): RuleHit["rule"] | undefined {
  if (file.path.from.length > 0 && file.path.text.startsWith("/dev/fd/")) return undefined;
  if (file.access === "delete") return deletes(file, place, situation);
  if (file.access === "write") return writes(file, place, invocation, situation);
  if (file.access === "mode")
    return place.area === "system" ||
      place.area === "device" ||
      (place.whole && file.recursive && place.area !== "workspace")
      ? "system-permissions"
      : undefined;
  return undefined;
}

/** What a build makes and can make again. */
const ARTEFACT =
  /^(node_modules|bower_components|dist|build|out|output|target|coverage|htmlcov|lib-cov|tmp|temp|logs?|vendor|venv|env|obj|_build|generated|gen|artifacts?|reports?|test-results|playwright-report|storybook-static|Debug|Release|x64|CMakeFiles|DerivedData|Pods|elm-stuff|__pycache__|es|esm|cjs|umd|typings|bundle|libcjs|libesm|OUT|_site|tmp_\w+|__snapshots__|allure-results|wheels|[\w.-]*-(build|dist|out|debug|release|output|cache)|(build|dist|out|cmake-build)[-_.][\w.*-]+|\.(next|nuxt|output|cache|parcel-cache|turbo|vite|angular|svelte-kit|astro|docusaurus|expo|gradle|tox|nox|eggs|venv|virtualenv|env|pytest_cache|mypy_cache|ruff_cache|hypothesis|nyc_output|coverage|terraform|serverless|sass-cache|eslintcache|stylelintcache|tsbuildinfo|temp|tmp|yarn|pnpm-store|bundle|idea|vs|ipynb_checkpoints|DS_Store|build|dart_tool|stack-work|nx|vercel|netlify|wrangler|fusebox|jekyll-cache|webpack|rpt2_cache|dynamodb|pio|aws-sam|swc|vitest|import_cache))$|^[\w.*-]*\.(egg-info|dist-info|dSYM|xcarchive|app|log|tmp|temp|bak|swp|swo|orig|rej|pyc|pyo|o|a|so|obj|class|exe|dll|gch|d|gcda|gcno|gcov|lcov|prof|pid|lock|out|map|tsbuildinfo|tgz|whl|cache)$|^\*\.[\w]+~?$|^\*?~$|^core\.\d+$|^\.?nohup\.out$/;

/** Patterns for files that people write by hand. */
const SOURCE =
  /\.(c|h|cc|cpp|hpp|py|js|jsx|ts|tsx|mjs|rs|go|java|kt|rb|php|swift|sh|md|txt|json|ya?ml|toml|sql|html|css|vue|svelte|env|pem|key|db|sqlite3?|csv|ipynb|docx?|pdf|png|jpe?g)$/;

/** Lock files of package managers. */
const LOCK_FILE =
  /^(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|poetry\.lock|uv\.lock|Pipfile\.lock|Cargo\.lock|Gemfile\.lock|composer\.lock|go\.sum|coverage\.(xml|json)|junit\.xml)$/;

export const isArtefact = (name: string): boolean =>
  (ARTEFACT.test(name) && !SOURCE.test(name)) || LOCK_FILE.test(name);

/** Caches: tools fetch them again when they are missing. */
const CACHE =
  /^\/var\/(lib\/apt\/lists|cache\/(apt|yum|dnf|apk|pacman))(\/|$)|^\/(home\/[^/]+|Users\/[^/]+|root)\/\.cache\/[^/*]+/;

function deletes(
  { path, recursive, filter }: FileAccess,
  place: PathPlace,
  situation: CheckContext,
): RuleHit["rule"] | undefined {
  const name = filter && filter !== "*" ? filter : place.path.replace(/\/\*$/, "").replace(/^.*\//, "");
  const many = recursive || (path.glob && place.whole);
  if (isSensitive("self", place, path.glob, situation.surroundings)) return "self-modification";
  if (place.area === "device") return "raw-device";
  if (CACHE.test(place.path)) return recursive ? "artefact-delete" : undefined;
  if (place.area === "system") return place.path.startsWith("/var/log") ? "hide-traces" : "delete-everything";
  if (filter !== undefined && place.area === "workspace")
    return isArtefact(name) ? "artefact-delete" : "delete-files";
  if (place.whole && many) return "delete-everything";
  if (place.area === "unknown") return recursive ? "recursive-delete" : undefined;
  if (isSensitive("private", place, path.glob, situation.surroundings) && /_history$/.test(place.path))
    return "hide-traces";
  if (place.area === "checkout" && !recursive && !path.glob) return undefined;
  if (/^(home|outside|checkout)$/.test(place.area)) return "delete-outside";
  if (place.area === "temporary")
    return recursive && (!isNamed(path, place) || situation.moved.has(place.path))
      ? "recursive-delete"
      : undefined;
  const last = place.path.slice(place.path.lastIndexOf("/") + 1);
  const made = partsBelow(place.path, situation.surroundings.workspace).some(isArtefact);
  if (!recursive && !made && place.path.includes(HOLE) && /^\0$|[*?]/.test(last)) return "delete-files";
  // An agent that removes its settings also removes its hooks.
  if (isSensitive("instructions", place, path.glob, situation.surroundings)) return "agent-instructions";
  if (!recursive) return undefined;
  return made ? "artefact-delete" : "recursive-delete";
}

/** A path below a temporary folder, spelled out without wildcards. */
const isNamed = ({ glob }: Word, { path }: PathPlace) =>
  !glob && !path.includes(HOLE) && /^(\/private)?(\/var)?\/tmp\/[^/]/.test(path);

/** The parts of a path below the workspace: `packages/app/node_modules/x` is in a build artefact. */
function partsBelow(path: string, workspace: string): string[] {
  const below = path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path;
  return below.split("/");
}

function writes(
  { path }: FileAccess,
  place: PathPlace,
  invocation: Invocation,
  situation: CheckContext,
): RuleHit["rule"] | undefined {
  const { program } = situation;
  if (program === "mv") situation.moved.add(place.path);
  if (/^\/dev\/(tcp|udp)\//.test(place.path)) return "reverse-shell";
  if (/^\/proc\/(sysrq-trigger)$/.test(place.path)) return "power";
  if (/^\/(proc|sys)\//.test(place.path)) return "kernel";
  if (place.area === "device") return "raw-device";
  const redirected = invocation.redirects.some(({ target }) => target === path);
  if (redirected && isEndless(invocation)) return "exhaustion";
  if (place.area === "harmless-device") return program === "mv" && !redirected ? "delete-files" : undefined;
  for (const [kind, rule] of SPECIAL_WRITES)
    if (isSensitive(kind, place, path.glob, situation.surroundings))
      // An empty folder instructs nobody.
      return kind === "instructions" && program === "mkdir" && !redirected ? undefined : rule;
  const emptied = empties(invocation, path, place);
  if (emptied) return emptied;
  if (place.path.startsWith("/var/log/") || /_history$/.test(place.path)) return "hide-traces";
  if (place.area === "system") return place.path === "/var/tmp" ? undefined : "write-system";
  if (
    program === "cp" &&
    invocation.argv.some(({ text }) => text === "/dev/null") &&
    !isArtefact(place.path.replace(/^.*\//, ""))
  )
    return "delete-files";
  if (place.area === "outside") return "write-outside";
  if (place.area !== "home" && place.area !== "checkout") return undefined;
  if (/\/\.cache(\/|$)/.test(place.path)) return undefined;
  return place.whole || situation.isFile(place.path) ? "write-outside" : "write-new";
}

/** A program that prints without end. */
const isEndless = ({ argv, program }: Invocation) =>
  program === "yes" || (program === "cat" && argv.some(({ text }) => /^\/dev\/(zero|u?random)$/.test(text)));

/** Files that people write by hand and that no build can make again. */
const WRITTEN =
  /\.(c|h|cc|cpp|hpp|py|js|jsx|ts|tsx|mjs|rs|go|java|kt|rb|php|swift|sh|vue|svelte|sql|toml|ya?ml|tf)$|^(package\.json|Makefile|Dockerfile|README\.md|tsconfig\.json)$/;
const ENV = /^\.env(\.(production|prod|staging))?$/;

/** `> file` empties the file. */
function empties({ argv, redirects }: Invocation, path: Word, place: PathPlace): RuleHit["rule"] | undefined {
  const redirect = redirects.find(({ target }) => target === path);
  if (argv[0]?.text === "truncate" && !redirect)
    return argv.some(({ text }) => /^(-s)?0$|^--size=0$/.test(text)) && WRITTEN.test(place.path)
      ? "empty-file"
      : undefined;
  if (redirect?.operator !== ">") return undefined;
  const name = place.path.replace(/^.*\//, "");
  if (ENV.test(name)) return "overwrite-secrets";
  const [program, ...words] = argv.map(({ text }) => text);
  const nothing =
    program === undefined ||
    /^(:|true)$/.test(program) ||
    (program === "cat" && words.length === 1 && words[0] === "/dev/null") ||
    (program === "echo" && words.every((text) => /^(-n)?$/.test(text)));
  if (!nothing || place.area === "temporary") return undefined;
  return place.area === "home" || /[*?]/.test(path.text) || WRITTEN.test(name) ? "empty-file" : undefined;
}

const SPECIAL_WRITES = [
  ["self", "self-modification"],
  ["persistent", "persistence"],
  ["startup", "startup-file"],
  ["instructions", "agent-instructions"],
] as const;
