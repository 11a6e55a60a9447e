import { compileWord } from "./match/glob.js";

/**
 * Selects functions: `module!function`.
 *
 * | written | means |
 * |---|---|
 * | `libc!getenv` | a symbol of libc.so.6: all its versions |
 * | `libc!memcpy@GLIBC_2.14` | one version of it |
 * | `libssl!SSL_write*`, `*!malloc` | globs in both halves |
 * | `app!0x1234`, `main!…` | an address in the file (as objdump shows it); `app` and `main` are the program itself |
 * | `app!+0x10` | an offset from the module's start in memory |
 * | `app!/55 48 89 e5 ?? c3/` | every place where an instruction with these bytes begins |
 */
export interface FunctionPattern {
  readonly text: string;
  readonly module: string;
  readonly what: FunctionPlace;
}

type FunctionPlace =
  | { readonly by: "symbol"; readonly glob: string; readonly version?: string }
  | { readonly by: "address"; readonly address: number }
  | { readonly by: "offset"; readonly offset: number }
  | { readonly by: "bytes"; readonly bytes: readonly (number | undefined)[] };

/** True when a key of a policy names functions, not a system call or an instruction. */
export function namesFunction(key: string): boolean {
  return key.includes("!") && !key.startsWith("instruction:");
}

const MAX_BYTES = 256;

/** Throws an Error that says what is wrong. */
export function parseFunctionPattern(text: string): FunctionPattern {
  const at = text.indexOf("!");
  const module = text.slice(0, at).trim();
  const rest = text.slice(at + 1).trim();
  if (at < 0 || module === "" || rest === "")
    throw new Error(`"${text}" does not name a function: write module!function, such as libc!getenv`);
  compileWord(module);
  return { text, module, what: placeOf(text, rest) };
}

function placeOf(text: string, rest: string): FunctionPlace {
  if (rest.startsWith("/")) return { by: "bytes", bytes: bytesOf(text, rest) };
  const number = /^(\+)?(0x[0-9a-f]+|\d+)$/i.exec(rest);
  if (number) {
    const value = Number(number[2]);
    if (!Number.isSafeInteger(value)) throw new Error(`"${text}": ${rest} is not an address`);
    return number[1] ? { by: "offset", offset: value } : { by: "address", address: value };
  }
  const [glob = "", version, more] = rest.split(/@@?/);
  if (glob === "" || version === "" || more !== undefined || /\s/.test(rest))
    throw new Error(
      `"${text}": "${rest}" is neither a symbol, nor an address (0x…, +0x…), nor bytes (/55 48 …/)`,
    );
  compileWord(glob);
  return { by: "symbol", glob, ...(version !== undefined && { version }) };
}

function bytesOf(text: string, rest: string): (number | undefined)[] {
  const inner = /^\/(.*)\/$/.exec(rest)?.[1]?.trim();
  const words = inner?.split(/\s+/) ?? [];
  if (
    words.length === 0 ||
    words.length > MAX_BYTES ||
    !words.every((word) => /^([0-9a-f]{2}|\?\?)$/i.test(word))
  )
    throw new Error(`"${text}": bytes are written as /55 48 89 e5 ?? c3/, at most ${MAX_BYTES} of them`);
  if (words[0] === "??") throw new Error(`"${text}": the first byte cannot be ??`);
  return words.map((word) => (word === "??" ? undefined : Number.parseInt(word, 16)));
}

/** True when the pattern matches a function of that name in a matching module. */
export function matchesFunction(
  { what }: FunctionPattern,
  symbol: string | undefined,
  address?: number,
): boolean {
  if (what.by === "symbol") return symbol !== undefined && compileWord(what.glob)(symbol);
  return what.by === "address" && what.address === address;
}

/** `libc.so.6` → `libc`, `/usr/lib/libssl.so.3` → `libssl`: a file's name without folder and version. */
export function moduleName(path: string): string {
  const file = path.slice(path.lastIndexOf("/") + 1);
  return /^(.+?)(-\d[\d.]*)?\.so(\.[\d.]+)?$/.exec(file)?.[1] ?? file;
}

/** True when the pattern matches the module of that file. `isMain`: it is the program itself. */
export function matchesModule({ module }: { module: string }, path: string, isMain: boolean): boolean {
  if (isMain && (module === "app" || module === "main")) return true;
  const matches = compileWord(module);
  return matches(moduleName(path)) || matches(path.slice(path.lastIndexOf("/") + 1));
}
