/**
 * A script with the pieces of its strings joined: `'cu' + 'rl'`, `"a" "b"`, `['a', 'b'].join('')`, `a=cu; b=rl;
 * $a$b`. Undefined when there is nothing to join. Only for searching: positions in it are not positions in the
 * script.
 */
export function withJoinedStrings(text: string): string | undefined {
  let out = text
    .replace(
      JOINED_LIST,
      (_, list: string) => `'${[...list.matchAll(PIECE)].map(([, , piece]) => piece).join("")}'`,
    )
    .replace(
      PYTHON_JOIN,
      (_, list: string) => `'${[...list.matchAll(PIECE)].map(([, , piece]) => piece).join("")}'`,
    );
  for (let last = ""; last !== out && out.length < 400_000; ) {
    last = out;
    out = out.replace(GLUED, "");
  }
  out = expanded(out);
  return out === text ? undefined : out;
}

const PIECE = /(["'`])([^"'`\n]{0,200})\1/g;
/** The end of a string, a plus, and the start of another. */
const GLUED = /(?<=[^\\])["'`][ \t]{0,4}\+\s{0,8}["'`]|(?<=[\w|/.$ -])"[ \t]{1,3}"(?=[\w|/.$ -])/g;
const JOINED_LIST =
  /\[((?:\s{0,8}["'`][^"'`\n]{0,200}["'`]\s{0,8},?){2,64})\]\s{0,4}\.join\(\s{0,4}(?:""|''|``)\s{0,4}\)/g;
const PYTHON_JOIN =
  /(?:""|'')\.join\(\s{0,4}[[(]((?:\s{0,8}["'][^"'\n]{0,200}["']\s{0,8},?){2,64})[\])]\s{0,4}\)/g;

const ASSIGNED =
  /(?:^|[\n;&]|\bexport )[ \t]{0,8}([A-Za-z_]\w{0,30})=(["']?)([\w./:@%+-]{1,120})\2(?=[\s;&]|$)/g;

/** Variables of a shell script that hold short words. */
function expanded(text: string): string {
  if (!/\$\{?\w/.test(text)) return text;
  const values = new Map([...text.matchAll(ASSIGNED)].slice(0, 64).map((match) => [match[1]!, match[3]!]));
  if (values.size === 0) return text;
  return text.replace(
    /\$(?:\{([A-Za-z_]\w{0,30})\}|([A-Za-z_]\w{0,30}))/g,
    (whole, a?: string, b?: string) => {
      return values.get((a ?? b)!) ?? whole;
    },
  );
}
