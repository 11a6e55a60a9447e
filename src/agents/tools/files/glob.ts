import {
  ANY_DEPTH,
  type CharacterSet,
  matchParts,
  ONE,
  type Part,
  pushText,
  STAR,
  type Token,
} from "../../../nouns/glob.js";

/** More alternatives than anybody writes by hand. */
const ALTERNATIVES = 64;

/**
 * The names of a glob as people and .gitignore files write it: `*`, `?`, `[a-z]` inside a name, `**` for any number of
 * folders. Nothing is an error: a `[` without an end is a bracket.
 */
export function compileNames(names: readonly string[]): readonly Part[] {
  return names.map((name) => (name === "**" ? ANY_DEPTH : { tokens: tokensOf(name) }));
}

function tokensOf(glob: string): Token[] {
  const tokens: Token[] = [];
  for (let g = 0; g < glob.length; g++) {
    const sign = glob[g]!;
    const close = sign === "[" ? glob.indexOf("]", g + 2) : -1;
    if (sign === "*") tokens.push(STAR);
    else if (sign === "?") tokens.push(ONE);
    else if (close > 0) {
      tokens.push(characterSet(glob.slice(g + 1, close)));
      g = close;
    } else if (sign === "\\" && g + 1 < glob.length) pushText(tokens, glob[++g]!);
    else pushText(tokens, sign);
  }
  return tokens;
}

function characterSet(text: string): CharacterSet {
  const negated = text[0] === "!" || text[0] === "^";
  const set = negated ? text.slice(1) : text;
  const ranges: [number, number][] = [];
  for (let i = 0; i < set.length; i++) {
    const isRange = set[i + 1] === "-" && i + 2 < set.length;
    ranges.push([set.charCodeAt(i), set.charCodeAt(isRange ? i + 2 : i)]);
    if (isRange) i += 2;
  }
  return { negated, ranges };
}

/** A glob as people write it: without a slash it fits names in any folder; `{a,b}` is either. */
export function globTest(glob: string): (path: string) => boolean {
  const each = alternatives(glob).map((one) => {
    const names = one.replace(/^\.?\//, "").split("/");
    return compileNames(one.includes("/") ? inside(names) : ["**", ...names]);
  });
  return (path) => each.some((parts) => matchParts(parts, path.split("/")));
}

/** `a/**` is what lies in a, not a itself. */
export function inside(names: readonly string[]): readonly string[] {
  return names.at(-1) === "**" ? [...names, "*"] : names;
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
