import { hasOption, optionTable, optionValue, readArguments } from "./arguments.js";
import { globMatcher } from "./parameters.js";
import { byName, HOLE, type Invocation, type Word } from "./script.js";

/**
 * What a command would print, where that can be known: this undoes commands hidden behind `base64 -d`, `rev` or
 * `printf`. An unknown part is a hole, never an empty text. Paths that a search would print keep their folder.
 */
export function outputOf(invocation: Invocation, home: string): string {
  const program = PRINTERS.get(invocation.program);
  if (!program) return SILENT.has(invocation.program) ? "" : HOLE;
  const args = invocation.argv.slice(1);
  const input = invocation.input?.text ?? HOLE;
  const text = program({ args, input, cwd: invocation.cwd, home });
  return text.length > OUTPUT_AT_MOST ? HOLE : text;
}

const OUTPUT_AT_MOST = 1 << 16;

/** Programs that print nothing on stdout. */
const SILENT = new Set(
  "true false : test [ cd exit return break continue set shopt export unset mkdir rm touch chmod sleep wait trap kill".split(
    " ",
  ),
);

interface Printing {
  readonly args: readonly Word[];
  readonly input: string;
  readonly cwd: string;
  readonly home: string;
}

const values = optionTable({
  "head tail": "-n -c --lines --bytes",
  cut: "-d -f -c -b --delimiter --fields --characters",
  xxd: "-c -g -l -o -s -n",
  "base64 base32": "-w --wrap",
  "find fd fdfind":
    "-name -iname -path -ipath -type -maxdepth -mindepth -mtime -mmin -size -newer -user -regex -e -t -d -E",
  "grep egrep fgrep rg": "-e -f -m -A -B -C -g -t -T --include --exclude --exclude-dir --glob --type",
  sed: "-e -f -l --expression --file",
  openssl: "-in -out -k -K -iv -pass",
});

const argumentsOf = (program: string, args: readonly Word[]) => readArguments(args, values(program));
const transform = (change: (input: string) => string) => {
  return ({ input }: Printing) => (input.includes(HOLE) ? HOLE : change(input));
};

const PRINTERS = byName<(printing: Printing) => string>({
  echo: ({ args }) => echo(args.map(({ text }) => text)),
  printf: ({ args }) => printf(args.filter(({ text }, i) => i > 0 || text !== "--").map(({ text }) => text)),
  cat: ({ args, input }) => (args.every(({ text }) => /^-/.test(text)) ? input : HOLE),
  tee: ({ input }) => input,
  base64: decoder("base64", "-d", "-D", "--decode"),
  base32: ({ args, input }) =>
    args.some(({ text }) => /^(-d|-D|--decode)$/.test(text)) ? base32(input) : HOLE,
  openssl: ({ args, input }) =>
    args.some(({ text }) => text === "-d") && args.some(({ text }) => /base64|-a$/.test(text))
      ? decode(input, "base64")
      : HOLE,
  xxd: ({ args, input }) => {
    const parsed = argumentsOf("xxd", args);
    return hasOption(parsed, "-r") ? decode(input.replace(/[^\da-f]/gi, ""), "hex") : HOLE;
  },
  rev: transform((input) => input.split("\n").map(reverse).join("\n")),
  tac: transform((input) => `${input.replace(/\n$/, "").split("\n").reverse().join("\n")}\n`),
  tr: ({ args, input }) => (input.includes(HOLE) ? HOLE : translate(args, input)),
  sed: ({ args, input }) => (input.includes(HOLE) ? HOLE : substitute(argumentsOf("sed", args), input)),
  cut: ({ args, input }) => (input.includes(HOLE) ? HOLE : cut(args, input)),
  head: ({ args, input }) => (input.includes(HOLE) ? HOLE : ends(args, input, "head")),
  tail: ({ args, input }) => (input.includes(HOLE) ? HOLE : ends(args, input, "tail")),
  fold: ({ input }) => input,
  sort: ({ input }) => input,
  uniq: ({ input }) => input,
  xargs: ({ args, input }) => (args.length === 0 ? input.trim().split(/\s+/).join(" ") : HOLE),
  pwd: ({ cwd }) => cwd,
  realpath: ({ args, cwd }) => args.at(-1)?.text ?? cwd,
  readlink: ({ args }) => args.at(-1)?.text ?? HOLE,
  dirname: ({ args }) => args.at(-1)?.text.replace(/\/[^/]*$/, "") || HOLE,
  basename: ({ args }) => args[0]?.text.replace(/^.*\//, "") || HOLE,
  which: ({ args }) => args.at(-1)?.text ?? HOLE,
  command: ({ args }) => (/^-[vV]$/.test(args[0]?.text ?? "") ? (args[1]?.text ?? HOLE) : HOLE),
  mktemp: () => "/tmp/tmp.XXXX",
  nproc: () => "4",
  id: ({ args }) => (/^-[ug]$/.test(args[0]?.text ?? "") ? "1000" : HOLE),
  uname: () => "Linux",
  arch: () => "x86_64",
  seq: () => "1",
  wc: () => "1",
  expr: () => "1",
  date: ({ args }) => (/[/ ]/.test(args.at(-1)?.text ?? "") ? HOLE : "2026"),
  ls: ({ args }) => below(argumentsOf("ls", args).operands),
  find: ({ args }) => outputOfFind(args),
  fd: ({ args }) => below(argumentsOf("fd", args).operands.slice(1)),
  git: ({ args }) => git(args),
  grep: ({ args }) => listed("grep", args),
  rg: ({ args }) => listed("rg", args),
});

function echo(words: readonly string[]): string {
  let rest = words;
  let escapes = false;
  let newline = true;
  while (rest.length > 0 && /^-[neE]+$/.test(rest[0]!)) {
    if (rest[0]!.includes("e")) escapes = true;
    if (rest[0]!.includes("n")) newline = false;
    rest = rest.slice(1);
  }
  const text = rest.join(" ");
  return (escapes ? unescaped(text) : text) + (newline ? "\n" : "");
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\u0007",
  e: "\u001b",
  "\\": "\\",
  '"': '"',
  "'": "'",
};

function unescaped(text: string): string {
  return text.replace(/\\(x[\da-f]{1,2}|u[\da-f]{1,4}|0?[0-7]{1,3}|c|.)/gi, (whole, code: string) => {
    if (/^[xu][\da-f]/i.test(code)) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    if (/^[0-7]+$/.test(code)) return String.fromCharCode(Number.parseInt(code, 8) & 0xff);
    return ESCAPES[code] ?? whole;
  });
}

function printf([format = "", ...given]: readonly string[]): string {
  if (format === "-v") return "";
  if (format.includes(HOLE)) return HOLE;
  let rest = given;
  let text = "";
  do {
    const before = rest.length;
    text += unescaped(format).replace(/%(%|[-+ #0-9.]*([sdiouxXcbq]))/g, (_, whole: string, kind: string) => {
      if (whole === "%") return "%";
      const [value = "", ...more] = rest;
      rest = more;
      return formatted(kind, value);
    });
    if (rest.length === before) break;
  } while (rest.length > 0 && text.length < OUTPUT_AT_MOST);
  return text;
}

function formatted(kind: string, value: string): string {
  if (value.includes(HOLE)) return HOLE;
  if (kind === "b") return unescaped(value);
  if (kind === "c") return value.slice(0, 1);
  if (kind === "s" || kind === "q") return value;
  const number = /^['"]/.test(value) ? value.charCodeAt(1) : Number(value);
  return number.toString(kind === "o" ? 8 : kind === "x" || kind === "X" ? 16 : 10);
}

function decoder(encoding: "base64", ...flags: string[]) {
  return ({ args, input }: Printing) =>
    args.some(({ text }) => flags.includes(text) || /^-[a-z]*d[a-z]*$/i.test(text))
      ? decode(input, encoding)
      : HOLE;
}

function decode(input: string, encoding: "base64" | "hex"): string {
  return input.includes(HOLE) ? HOLE : Buffer.from(input, encoding).toString("utf8");
}

function base32(input: string): string {
  if (input.includes(HOLE)) return HOLE;
  let bits = "";
  for (const letter of input.replace(/[^A-Z2-7]/gi, "").toUpperCase())
    bits += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0");
  return (bits.match(/.{8}/g) ?? []).map((byte) => String.fromCharCode(Number.parseInt(byte, 2))).join("");
}

const reverse = (text: string) => [...text].reverse().join("");

function translate(args: readonly Word[], input: string): string {
  const flags = args.filter(({ text }) => /^-[a-zA-Z]+$/.test(text)).map(({ text }) => text);
  const [from = "", to = ""] = args
    .filter(({ text }) => !/^-[a-zA-Z]+$/.test(text))
    .map(({ text }) => set(text));
  if (flags.some((flag) => flag.includes("c") || flag.includes("C"))) return HOLE;
  if (flags.some((flag) => flag.includes("d"))) return [...input].filter((c) => !from.includes(c)).join("");
  if (to === "") return input;
  return [...input]
    .map((character) => {
      const at = from.indexOf(character);
      return at < 0 ? character : (to[at] ?? to.at(-1)!);
    })
    .join("");
}

/** Sets of tr: `a-z`, `[:upper:]`, `\n`. */
function set(text: string): string {
  return unescaped(text)
    .replace("[:lower:]", "a-z")
    .replace("[:upper:]", "A-Z")
    .replace("[:digit:]", "0-9")
    .replace("[:space:]", " \t\n")
    .replace(/(.)-(.)/gs, (_, first: string, last: string) => {
      const length = Math.max(0, Math.min(256, last.charCodeAt(0) - first.charCodeAt(0) + 1));
      return Array.from({ length }, (_, i) => String.fromCharCode(first.charCodeAt(0) + i)).join("");
    });
}

/** `sed s/a/b/g` with plain text; anything else is a hole. */
function substitute(args: ReturnType<typeof readArguments>, input: string): string {
  const scripts = [
    ...args.options.filter(({ name }) => name === "-e").map(({ value }) => value?.text ?? ""),
    ...(hasOption(args, "-e") ? [] : args.operands.slice(0, 1).map(({ text }) => text)),
  ];
  let text = input;
  for (const script of scripts.flatMap((s) => s.split(";"))) {
    const [, , from, to, flags] = /^\s*s(.)(.*?)\1(.*?)\1([gi]*)\s*$/.exec(script) ?? [];
    if (from === undefined || to === undefined || from === "") return HOLE;
    if (/[\\[\](){}+?|&]/.test(from + to)) return HOLE;
    const anchored = from.replace(/^\^|\$$/g, "");
    if (anchored.includes("^") || anchored.includes("$")) return HOLE;
    const matcher = globMatcher(anchored.replaceAll(".*", "*").replaceAll(".", "?"));
    if (!matcher) return HOLE;
    const source = matcher.source.slice(1, -1);
    const pattern = (from.startsWith("^") ? "^" : "") + source + (from.endsWith("$") ? "$" : "");
    text = text.replace(new RegExp(pattern, flags?.includes("g") ? "gm" : "m"), () => to);
  }
  return text;
}

function cut(args: readonly Word[], input: string): string {
  const parsed = argumentsOf("cut", args);
  const characters = optionValue(parsed, "-c", "-b", "--characters")?.text;
  const fields = optionValue(parsed, "-f", "--fields")?.text;
  const list = characters ?? fields ?? "";
  if (!/^[\d,-]+$/.test(list)) return HOLE;
  const wanted = list.split(",").map((range) => /^(\d*)(-?)(\d*)$/.exec(range)!);
  const takes = (n: number) =>
    wanted.some(
      ([, from, dash, to]) => n >= Number(from || 1) && n <= (dash ? Number(to || 1e9) : Number(from)),
    );
  const delimiter = fields === undefined ? "" : (optionValue(parsed, "-d", "--delimiter")?.text ?? "\t");
  return input
    .split("\n")
    .map((line) =>
      line
        .split(delimiter)
        .filter((_, i) => takes(i + 1))
        .join(delimiter),
    )
    .join("\n");
}

function ends(args: readonly Word[], input: string, which: "head" | "tail"): string {
  const parsed = argumentsOf(which, args);
  const bytes = optionValue(parsed, "-c", "--bytes")?.text;
  const short = parsed.options.find(({ name }) => /^-\d+$/.test(name))?.name.slice(1);
  const lines = optionValue(parsed, "-n", "--lines")?.text ?? short ?? "10";
  if (!/^\+?\d+$/.test(bytes ?? lines)) return HOLE;
  if (bytes !== undefined)
    return which === "head" ? input.slice(0, Number(bytes)) : input.slice(-Number(bytes));
  const all = input.replace(/\n$/, "").split("\n");
  if (lines.startsWith("+")) return `${all.slice(Number(lines) - 1).join("\n")}\n`;
  return `${(which === "head" ? all.slice(0, Number(lines)) : all.slice(-Number(lines))).join("\n")}\n`;
}

/** An unknown path in these folders, or in the current one. */
function below(folders: readonly Word[], name = HOLE): string {
  if (folders.length === 0) return `./${name}`;
  return folders.map(({ text }) => `${text.replace(/\/$/, "")}/${name}`).join("\n");
}

export function outputOfFind(args: readonly Word[]): string {
  const first = args.findIndex(({ text }) => /^[-(!]/.test(text) && !/^-[HLPO]/.test(text));
  const roots = (first < 0 ? args : args.slice(0, first)).filter(({ text }) => !text.startsWith("-"));
  const at = args.findIndex(({ text }) => text === "-name" || text === "-iname");
  const name = at < 0 ? HOLE : (args[at + 1]?.text ?? HOLE);
  return below(roots, `${HOLE}/${name}`);
}

function listed(program: string, args: readonly Word[]): string {
  const parsed = argumentsOf(program, args);
  if (!hasOption(parsed, "-l", "-L", "--files-with-matches", "--files", "-rl", "-lr")) return HOLE;
  return below(parsed.operands.slice(1));
}

function git(args: readonly Word[]): string {
  const sub = args.find(({ text }) => !text.startsWith("-"))?.text;
  const names = args.some(({ text }) => text === "--name-only");
  if (sub === "ls-files" || (sub === "diff" && names)) return `./${HOLE}`;
  return HOLE;
}
