/** More alternatives than anybody writes by hand. */
const ALTERNATIVES = 64;

/**
 * Whether a path fits a glob: `*`, `?`, `[a-z]` inside a name, `**` for any number of folders. Both are given as parts.
 * Only the last star is ever tried again, so the time is bounded by the product of the lengths: patterns come from
 * anywhere, and a regular expression made of one could take for ever.
 */
export function fitsPath(glob: readonly string[], names: readonly string[]): boolean {
  return fits(
    glob.length,
    names.length,
    (g) => glob[g] === "**",
    (g, n) => (fitsName(glob[g]!, names[n]!) ? 1 : 0),
  );
}

/** One name. */
export function fitsName(glob: string, name: string): boolean {
  return fits(
    glob.length,
    name.length,
    (g) => glob[g] === "*",
    (g, n) => step(glob, g, name[n]!),
  );
}

/** `one` says how much of the pattern fits the next of the text; 0: nothing. */
function fits(
  length: number,
  end: number,
  isStar: (g: number) => boolean,
  one: (g: number, n: number) => number,
): boolean {
  let g = 0;
  let n = 0;
  let star = -1;
  let mark = 0;
  while (n < end) {
    const taken = g < length && !isStar(g) ? one(g, n) : 0;
    if (g < length && isStar(g)) {
      star = g++;
      mark = n;
    } else if (taken > 0) {
      g += taken;
      n++;
    } else if (star >= 0) {
      g = star + 1;
      n = ++mark;
    } else return false;
  }
  while (g < length && isStar(g)) g++;
  return g === length;
}

function step(glob: string, g: number, character: string): number {
  const sign = glob[g]!;
  if (sign === "?") return 1;
  if (sign === "\\" && g + 1 < glob.length) return glob[g + 1] === character ? 2 : 0;
  if (sign !== "[") return sign === character ? 1 : 0;
  const end = glob.indexOf("]", g + 2);
  if (end < 0) return character === "[" ? 1 : 0;
  const negated = glob[g + 1] === "!" || glob[g + 1] === "^";
  return inSet(glob.slice(g + (negated ? 2 : 1), end), character) !== negated ? end - g + 1 : 0;
}

function inSet(set: string, character: string): boolean {
  for (let i = 0; i < set.length; i++) {
    const isRange = set[i + 1] === "-" && i + 2 < set.length;
    if (isRange ? set[i]! <= character && character <= set[i + 2]! : set[i] === character) return true;
    if (isRange) i += 2;
  }
  return false;
}

/** A glob as people write it: without a slash it fits names in any folder; `{a,b}` is either. */
export function globTest(glob: string): (path: string) => boolean {
  const each = alternatives(glob).map((one) => {
    const parts = one.replace(/^\.?\//, "").split("/");
    return one.includes("/") ? inside(parts) : ["**", ...parts];
  });
  return (path) => each.some((parts) => fitsPath(parts, path.split("/")));
}

/** `a/**` is what lies in a, not a itself. */
export function inside(parts: readonly string[]): readonly string[] {
  return parts.at(-1) === "**" ? [...parts, "*"] : parts;
}

function alternatives(glob: string): string[] {
  const done: string[] = [];
  const open = [glob];
  while (open.length > 0 && open.length + done.length <= ALTERNATIVES) {
    const next = open.pop()!;
    const group = /\{([^{}]*)\}/.exec(next);
    if (!group) done.push(next);
    else
      for (const choice of group[1]!.split(","))
        open.push(next.slice(0, group.index) + choice + next.slice(group.index + group[0].length));
  }
  return [...done, ...open];
}
