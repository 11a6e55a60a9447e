import type { Elf } from "../elf/index.js";

/** What a program was written in, and what says so. */
export interface SourceLanguage {
  readonly name: string;
  readonly version?: string;
  readonly evidence: string;
}

/** Names that only one language's compiler makes. */
const BY_SYMBOL: readonly (readonly [RegExp, string])[] = [
  [/^_R[A-Za-z]|^_ZN.*17h[0-9a-f]{16}E$|^rust_(?:eh_personality|begin_unwind|panic)/, "Rust"],
  [/^_Z(?!N.*17h[0-9a-f]{16}E$)|^__cxa_throw|^__gxx_personality/, "C++"],
  [/^caml_(?:main|startup|alloc)/, "OCaml"],
  [/^(?:stg_|hs_main|ghczm)/, "Haskell"],
  [/^_D\d+\w+|^_d_run_main/, "D"],
  [/^\$s[A-Za-z0-9_]|^swift_/, "Swift"],
  [/^_gfortran_/, "Fortran"],
  [/^NimMain|^nimGC/, "Nim"],
  [/^objc_msgSend|^_OBJC_/, "Objective-C"],
  [/^__gnat_|^ada_main/, "Ada"],
];
const MOST_NAMES = 20_000;

export function languagesOf(elf: Elf): SourceLanguage[] {
  const found = new Map<string, SourceLanguage>();
  const add = (name: string, evidence: string, version?: string) => {
    const known = found.get(name);
    if (known === undefined || (known.version === undefined && version !== undefined))
      found.set(name, { name, evidence, ...(version !== undefined && { version }) });
  };
  const go = goBuild(elf);
  if (go !== undefined)
    add("Go", go.module === "" ? "Go build information" : `Go module ${go.module}`, go.version);
  for (const line of comments(elf)) {
    const rust = /^rustc version (\S+)/.exec(line);
    if (rust) add("Rust", line, rust[1]);
    if (/^Swift version/.test(line)) add("Swift", line);
  }
  let names = 0;
  for (const name of elf.symbols.names()) {
    if (names++ > MOST_NAMES) break;
    for (const [pattern, language] of BY_SYMBOL)
      if (!found.has(language) && pattern.test(name)) add(language, `symbol ${name.slice(0, 80)}`);
  }
  if (found.size === 0) {
    const compiler = comments(elf).find((line) => /GCC|clang|tcc/i.test(line));
    if (compiler !== undefined) add("C", compiler);
  }
  return [...found.values()];
}

/** What compilers and linkers wrote about themselves. */
export function comments(elf: Elf): string[] {
  const section = elf.section(".comment");
  if (section === undefined) return [];
  const text = Buffer.from(elf.raw(section.offset, Math.min(section.size, 1 << 16))).toString("latin1");
  return [...new Set(text.split("\0").filter((line) => line.trim() !== ""))].slice(0, 32);
}

const GO_MAGIC = Buffer.from("\xff Go buildinf:", "latin1");

/** Go writes its version and the module's path into every program; since 1.18 as plain text behind a header. */
function goBuild(elf: Elf): { version: string; module: string } | undefined {
  const section = elf.section(".go.buildinfo");
  const bytes =
    section === undefined ? undefined : Buffer.from(elf.raw(section.offset, Math.min(section.size, 1 << 20)));
  if (bytes === undefined || bytes.indexOf(GO_MAGIC) !== 0) return undefined;
  if ((bytes[15]! & 2) === 0) return { version: "before 1.18", module: "" };
  let at = 32;
  const text = () => {
    let length = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = bytes[at++] ?? 0;
      length |= (byte & 0x7f) << shift;
      if ((byte & 0x80) === 0) break;
    }
    const from = at;
    at += length;
    return bytes.subarray(from, at).toString("latin1");
  };
  const version = text();
  const module = /^path\t(.*)$/m.exec(text())?.[1] ?? "";
  return { version: version.replace(/^go/, ""), module };
}
