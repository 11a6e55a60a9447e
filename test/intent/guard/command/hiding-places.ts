/** Ways to hide a command in a script: each takes the command and returns a script that runs it. */
type Hide = (command: string) => string;

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
/** In double quotes, for a shell that reads the text a second time. */
const doubled = (text: string) => `"${text.replace(/["\\$`]/g, "\\$&")}"`;
/** `$((` would be arithmetic. */
const sub = (command: string) => `$(${command.startsWith("(") ? " " : ""}${command})`;
const ticks = (command: string) => `\`${command.replace(/[\\`$]/g, "\\$&")}\``;

/** Places where the grammar allows a list of commands. */
const LISTS: readonly Hide[] = [
  (c) => c,
  (c) => `true; ${c}`,
  (c) => `true && ${c}`,
  (c) => `false || ${c}`,
  (c) => `true & ${c} & wait`,
  (c) => `! ${c}`,
  (c) => `time ${c}`,
  (c) => `time -p -- ${c}`,
  (c) => `true | { ${c}; }`,
  (c) => `{ ${c}; } |& cat`,
  (c) => `( ${c} )`,
  (c) => `{ ${c}; }`,
  (c) => `{ ${c}; } > out.log 2>&1`,
  (c) => `( ${c} ) < /dev/null`,
  (c) => `if ${c}; then :; fi`,
  (c) => `if false; then ${c}; fi`,
  (c) => `if false; then :; else ${c}; fi`,
  (c) => `if false; then :; elif ${c}; then :; fi`,
  (c) => `if false; then :; elif true; then ${c}; fi`,
  (c) => `while ${c}; do break; done`,
  (c) => `while true; do ${c}; break; done`,
  (c) => `until ${c}; do break; done`,
  (c) => `until false; do ${c}; break; done`,
  (c) => `for i in 1 2; do ${c}; done`,
  (c) => `for i; do ${c}; done`,
  (c) => `for ((i = 0; i < 1; i++)); do ${c}; done`,
  (c) => `select i in 1 2; do ${c}; break; done`,
  (c) => `case x in x) ${c} ;; esac`,
  (c) => `case x in y) : ;; *) ${c} ;& z) : ;; esac`,
  (c) => `f() { ${c}; }; f`,
  (c) => `f() ( ${c} ); f`,
  (c) => `function f { ${c}; }; f`,
  (c) => `f() { ${c}; }`,
  (c) => `f() { ${c}; } > out.log; f`,
  (c) => `f() { g() { ${c}; }; g; }; f`,
  (c) => `( f() { ${c}; }; f )`,
  (c) => `coproc { ${c}; }`,
  (c) => `coproc NAME { ${c}; }`,
  (c) => `coproc ( ${c} )`,
  (c) => `true # comment\n${c}`,
  (c) => `if true\nthen\n${c}\nfi`,
];

/** Places for a word; each gets something that runs when the word is expanded. */
const WORDS: readonly Hide[] = [
  (w) => `echo ${w}`,
  (w) => `echo "a ${w} b"`,
  (w) => `echo $"${w}"`,
  (w) => `echo x${w}y`,
  (w) => `: ${w}`,
  (w) => `x=${w}`,
  (w) => `x=${w} true`,
  (w) => `x+=${w}`,
  (w) => `a=(1 ${w} 3)`,
  (w) => `a=([${w}]=1)`,
  (w) => `a[${w}]=1`,
  (w) => `a[${w}]+=1`,
  (w) => `declare -a a=(${w})`,
  (w) => `export x=${w}`,
  (w) => `local x=${w}`,
  (w) => `readonly x="${w}"`,
  (w) => `true > ${w}`,
  (w) => `true 2>> "${w}"`,
  (w) => `true &> ${w}`,
  (w) => `cat < ${w}`,
  (w) => `true >&${w}`,
  (w) => `cat <<< ${w}`,
  (w) => `cat <<< "a ${w}"`,
  (w) => `cat <<E\na ${w}\nE`,
  (w) => `cat <<-E\n\ta ${w}\n\tE`,
  (w) => `{ cat; } <<E\n${w}\nE`,
  (w) => `cat <<"A" <<E\nplain\nA\n${w}\nE`,
  (w) => `for i in a ${w}; do :; done`,
  (w) => `select i in ${w}; do break; done`,
  (w) => `case ${w} in x) ;; esac`,
  (w) => `case x in ${w}) ;; esac`,
  (w) => `case x in a | ${w}) ;; esac`,
  (w) => `[[ -n ${w} ]]`,
  (w) => `[[ a == ${w} ]]`,
  (w) => `[[ ${w} =~ x ]]`,
  (w) => `[[ ! ( -f a && -d ${w} ) ]]`,
  (w) => `[[ -f a || ${w} -eq 1 ]]`,
  (w) => `[ -n "${w}" ]`,
  (w) => `test -f ${w}`,
  (w) => `echo \${x:-${w}}`,
  (w) => `echo \${x:=${w}}`,
  (w) => `echo \${x:?${w}}`,
  (w) => `echo \${x:+${w}}`,
  (w) => `x=1; echo \${x:+${w}}`,
  (w) => `echo \${x-${w}}`,
  (w) => `x=1; echo \${x-${w}}`,
  (w) => `echo \${x+${w}}`,
  (w) => `echo \${x=${w}}`,
  (w) => `echo "\${x:-${w}}"`,
  (w) => `echo \${x#${w}}`,
  (w) => `echo \${x##${w}}`,
  (w) => `echo \${x%${w}}`,
  (w) => `echo \${x%%${w}}`,
  (w) => `echo \${x/${w}/b}`,
  (w) => `echo \${x/a/${w}}`,
  (w) => `echo \${x//${w}/b}`,
  (w) => `echo \${x/#${w}/b}`,
  (w) => `echo \${x/%a/${w}}`,
  (w) => `x=abc; echo \${x/a/${w}}`,
  (w) => `echo \${x:${w}}`,
  (w) => `echo \${x:0:${w}}`,
  (w) => `x=abc; echo \${x:${w}:1}`,
  (w) => `echo \${x^^${w}}`,
  (w) => `echo \${x,${w}}`,
  (w) => `echo \${x@${w}}`,
  (w) => `echo \${a[${w}]}`,
  (w) => `echo \${#a[${w}]}`,
  (w) => `echo \${!a[${w}]}`,
  (w) => `echo \${a[${w}]:-x}`,
  (w) => `echo \${@:${w}}`,
  (w) => `echo $((${w}))`,
  (w) => `echo $((1 + ${w}))`,
  (w) => `echo $((-${w}))`,
  (w) => `echo $((${w} ? 1 : 2))`,
  (w) => `echo $((1 ? ${w} : 2))`,
  (w) => `echo $((1 ? 2 : (${w})))`,
  (w) => `echo $((a[${w}]))`,
  (w) => `echo $((a[${w}] = 1))`,
  (w) => `echo $(( x = ${w}, 1 ))`,
  (w) => `echo $[${w}]`,
  (w) => `((${w}))`,
  (w) => `(( x += ${w} ))`,
  (w) => `(( a[${w}]++ ))`,
  (w) => `for ((i = ${w}; i < 1; i++)); do :; done`,
  (w) => `for ((i = 0; i < ${w}; i++)); do :; done`,
  (w) => `for ((i = 0; i < 1; i += ${w})); do :; done`,
  (w) => `echo {a,${w}}`,
  (w) => `echo {a,b}${w}`,
  (w) => `echo a{${w},c}d`,
  (w) => `echo *${w}`,
  (w) => `echo [a${w}]`,
  (w) => `echo @(a|${w})`,
  (w) => `echo !(${w})`,
  (w) => `echo ~${w}`,
  (w) => `let x=${w}`,
  (w) => `let "x = ${w}"`,
  (w) => `printf -v x %s ${w}`,
  (w) => `read -r x <<< ${w}`,
  (w) => `cat <(echo ${w})`,
  (w) => `f() { echo ${w}; }`,
  (w) => `trap ${w} EXIT`,
  (w) => `alias x=${w}`,
  (w) => `set -- ${w}`,
  (w) => `echo x | grep ${w}`,
  (w) => `${w}; true`,
];

/** What runs a command when a word is expanded. */
const EXPANSIONS: readonly Hide[] = [sub, ticks];

/** Places for a process substitution only. */
const STREAMS: readonly Hide[] = [
  (c) => `cat <(${c})`,
  (c) => `true > >(${c})`,
  (c) => `tee >(${c}) < /dev/null`,
  (c) => `cat < <(${c})`,
  (c) => `while read -r x; do :; done < <(${c})`,
  (c) => `exec 3> >(${c})`,
  (c) => `diff <(${c}) <(ls)`,
  (c) => `. <(echo ${quoted(c)})`,
  (c) => `source /dev/stdin <<< ${quoted(c)}`,
];

/** Text that the shell itself reads a second time. */
const TEXTS: readonly Hide[] = [
  (c) => `eval ${quoted(c)}`,
  (c) => `eval ${doubled(c)}`,
  (c) => `x=${quoted(c)}; eval "$x"`,
  (c) => `trap ${quoted(c)} EXIT`,
  (c) => `trap -- ${quoted(c)} DEBUG`,
  (c) => `trap ${doubled(c)} 0 INT`,
  (c) => `x=${quoted(sub(c))}; echo \${x@P}`,
  (c) => `x=${quoted(sub(c))}; echo "\${x@P}"`,
  (c) => `x=${quoted(`a[${sub(c)}]`)}; echo $((x))`,
  (c) => `x=${quoted(`a[${sub(c)}]`)}; ((x))`,
  (c) => `x=${quoted(`a[${sub(c)}]`)}; [[ $x -eq 1 ]]`,
  (c) => `x=${quoted(`a[${sub(c)}]`)}; [[ x -eq 1 ]]`,
  (c) => `x=${quoted(`a[${sub(c)}]`)}; echo \${!x}`,
  (c) => `let ${quoted(`a[${sub(c)}]=1`)}`,
  (c) => `declare -i ${quoted(`x=a[${sub(c)}]`)}`,
  (c) => `declare ${quoted(`a[${sub(c)}]=1`)}`,
  (c) => `test -v ${quoted(`a[${sub(c)}]`)}`,
  (c) => `[ -v ${quoted(`a[${sub(c)}]`)} ]`,
  (c) => `[[ -v ${quoted(`a[${sub(c)}]`)} ]]`,
  (c) => `unset ${quoted(`a[${sub(c)}]`)}`,
  (c) => `printf -v ${quoted(`a[${sub(c)}]`)} x`,
  (c) => `read ${quoted(`a[${sub(c)}]`)} <<< 1`,
  (c) => `PS4=${quoted(sub(c))}; set -x; true`,
  (c) => `PROMPT_COMMAND=${quoted(c)}`,
  (c) => `PS1=${quoted(sub(c))} bash -i`,
  (c) => `mapfile -C ${quoted(c)} -c 1 x < y`,
  (c) => `readarray -C ${quoted(c)} x < y`,
  (c) => `complete -C ${quoted(c)} ls`,
  (c) => `compgen -C ${quoted(c)}`,
  (c) => `compgen -W ${quoted(sub(c))}`,
  (c) => `bind -x ${quoted(`"\\C-l": ${c}`)}`,
  (c) => `alias x=${quoted(c)}\nx`,
  (c) => `sh -c ${quoted(c)}`,
  (c) => `bash -lc ${doubled(c)}`,
  (c) => `bash <<< ${quoted(c)}`,
  (c) => `bash <<'E'\n${c}\nE`,
  (c) => `echo ${quoted(c)} | sh`,
  (c) => `printf %s ${quoted(c)} | bash -s`,
  (c) => `bash <(echo ${quoted(c)})`,
  (c) => `bash --rcfile <(echo ${quoted(c)}) -i`,
  (c) => `BASH_ENV=<(echo ${quoted(c)}) bash x`,
  (c) => `echo ${quoted(c)} > x.sh; bash x.sh`,
  (c) => `echo ${quoted(c)} > x.sh; . ./x.sh`,
  (c) => `cat > x.sh <<'E'\n${c}\nE\nchmod +x x.sh && ./x.sh`,
  (c) => `echo ${Buffer.from(c).toString("base64")} | base64 -d | sh`,
];

/** Places for a simple command only: reserved words that come from an expansion are plain words. */
const SIMPLE: readonly Hide[] = [
  (c) => `x=${quoted(c)}; $x`,
  (c) => `x=(${c}); "\${x[@]}"`,
  (c) => `set -- ${c}; "$@"`,
  (c) => `x=1 ${c}`,
  (c) => `> out.log ${c}`,
  (c) => `${c} > out.log`,
  (c) => `coproc ${c}`,
  (c) => `command ${c}`,
  (c) => `env - ${c}`,
  (c) => `R=$(which ${c.split(" ")[0]} || which unlink); $R ${c.split(" ").slice(1).join(" ")}`,
  (c) =>
    `R=$(if true; then echo ${c.split(" ")[0]}; else echo ls; fi); $R ${c.split(" ").slice(1).join(" ")}`,
];

/** Only some of all pairs, always the same ones: all of them would take too long. */
const EVERY = 5;

/** One command in every place above; with `nested`, also in places inside places. */
export function* hidden(command: string, nested = false): Generator<string> {
  const words = WORDS.flatMap((place) =>
    EXPANSIONS.map(
      (how): Hide =>
        (c) =>
          place(how(c)),
    ),
  );
  const all = [...LISTS, ...STREAMS, ...TEXTS, ...words];
  for (const hide of [...SIMPLE, ...all]) yield hide(command);
  if (!nested) return;
  const inLists = pairs(all, LISTS);
  const inWords = pairs(
    WORDS.map(
      (place): Hide =>
        (c) =>
          place(sub(c)),
    ),
    WORDS.map(
      (place): Hide =>
        (c) =>
          place(sub(c)),
    ),
  );
  for (const [outer, inner] of [...inLists, ...inWords]) {
    const script = inner(command);
    if (!script.includes("\n")) yield outer(script);
  }
}

const pairs = (outer: readonly Hide[], inner: readonly Hide[]): (readonly [Hide, Hide])[] =>
  outer.flatMap((one, i) =>
    inner.filter((_, j) => (i + j) % EVERY === 0).map((other) => [one, other] as const),
  );
