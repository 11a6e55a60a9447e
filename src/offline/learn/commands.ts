import { escapePattern, patternOfName } from "../analyze/shape.js";
import type { ProgramUse } from "./observations.js";
import { addTo, nothingYet, type Sighting } from "./sighting.js";

/** How a program was started: a pattern for the beginning of its command line. */
interface CommandShape {
  readonly argv: readonly string[] | undefined;
  readonly seen: Sighting;
}

/** Programs whose first word says what they do. */
const WITH_SUBCOMMANDS = new Set(
  "git hg svn npm npx yarn pnpm pip pip3 cargo go rustup docker podman kubectl helm systemctl service apt apt-get apt-cache dpkg gh brew conda poetry uv openssl ip busybox".split(
    " ",
  ),
);
/** Programs that take code as an argument: the code is what matters. */
const TAKES_CODE =
  /^(?:(?:ba|da|z|k|a)?sh|python[\d.]*|perl[\d.]*|ruby[\d.]*|node(?:js)?|php[\d.]*|lua[\d.]*)$/;
const CODE_OPTIONS = new Set(["-c", "-e", "-p", "--eval", "--print", "-r"]);
/** From so many different beginnings on, they are left open. */
export const MAX_SHAPES = 4;
const MAX_CODE = 400;

/** The command lines of one program, as few patterns. Undefined argv: any. */
export function commandShapes(uses: readonly ProgramUse[]): CommandShape[] {
  const shapes = new Map<string, CommandShape>();
  for (const { path, argv, top, seen } of uses) {
    const shape = top ? undefined : beginning(path, argv);
    const key = shape === undefined ? "" : shape.join("\0");
    const known = shapes.get(key) ?? { argv: shape, seen: nothingYet() };
    shapes.set(key, known);
    addTo(known.seen, seen);
  }
  const open = shapes.get("");
  const plain = [...shapes.values()].filter(({ argv }) => !argv?.some((word) => CODE_OPTIONS.has(word)));
  if (!open && plain.length <= MAX_SHAPES) return [...shapes.values()];
  // Too many kinds, or its user chooses: any arguments, but code only as it was seen.
  const rest: CommandShape = { argv: undefined, seen: nothingYet() };
  for (const { seen } of open && shapes.size > 1 ? shapes.values() : plain) addTo(rest.seen, seen);
  return open ? [rest] : [...[...shapes.values()].filter((shape) => !plain.includes(shape)), rest];
}

function beginning(path: string, argv: readonly string[]): string[] | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const [, first, second] = argv;
  if (first === undefined) return undefined;
  if (TAKES_CODE.test(name) && CODE_OPTIONS.has(first) && second !== undefined)
    return ["*", first, second.length > MAX_CODE ? `${code(second.slice(0, MAX_CODE))}*` : code(second)];
  if (WITH_SUBCOMMANDS.has(name)) {
    const subcommand = argv.slice(1).findIndex((word) => /^[a-z][a-z-]*$/.test(word));
    if (subcommand === 0) return ["*", first];
    if (subcommand > 0) return ["*", "**", argv[subcommand + 1]!];
  }
  return /^-{1,2}[A-Za-z][\w-]*$/.test(first) ? ["*", first] : undefined;
}

/** Code with this run's own names in it left open. */
function code(text: string): string {
  return text
    .split(/([\s/'"=:;|&<>()]+)/)
    .map((word, i) => (i % 2 === 1 ? escapePattern(word) : patternOfName(word)))
    .join("");
}
