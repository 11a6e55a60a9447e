const PIECES = [
  ..."$( ` $\x7b } (( )) <( | || && ; & ' \" \\ { [ ] * > < $x $' ! # ~".split(" "),
  ..."\n|\0|é|\u200b|<<EOF\n|{a,b}|{1..99}|$\x7ba[@]}|a=(|case x in |if |then |fi|while |do |done".split("|"),
  ..."function f {|f(){ |alias a='|env -S '|eval |sh -c |xargs |find . -exec |base64 -d|printf '%s' ".split(
    "|",
  ),
  ..."constructor|__proto__|toString|rm -rf /|${x:-${y:-|$((|<<<|2>&1|/dev/tcp/a/1| -c ".split("|"),
];

/** Unusual commands, built from real ones. The same seed gives the same commands. */
export function* fuzzed(commands, count, seed = 1) {
  let state = seed;
  const below = (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const one = (list) => list[below(list.length)];
  for (let i = 0; i < count; i++) {
    let text = one(commands);
    for (let changes = below(8); changes > 0; changes--) {
      const at = below(text.length + 1);
      const before = text.slice(0, at);
      const after = text.slice(at);
      const piece = one(PIECES);
      text = [
        () => before + piece + after,
        () => before + after.slice(1 + below(5)),
        () => `${text} ${one(commands)}`,
        () => before + piece.repeat(1 + below(200)) + after,
        () => one(commands) + one([" | ", " && ", "; ", " $("]) + text,
      ][below(5)]();
    }
    yield below(300) === 0 ? text.repeat(1 + below(100)) : text;
  }
}
