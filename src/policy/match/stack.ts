import type { CallStack, Frame } from "../../nouns/inside.js";
import { compileWord, PatternError } from "./glob.js";

/** Code by place: `libfoo`, `libfoo!*`, `libcurl!curl_easy_*`, `app!main`; globs in both halves. */
interface CodeLocationPattern {
  readonly text: string;
  matches(frame: Frame): boolean;
}

/** Some of these, and none of those. */
export interface CodeList {
  readonly included: readonly CodeLocationPattern[];
  readonly excepted: readonly CodeLocationPattern[];
}

export function compileCode(texts: readonly string[]): CodeList {
  const included: CodeLocationPattern[] = [];
  const excepted: CodeLocationPattern[] = [];
  for (const text of texts)
    if (text.startsWith("!")) excepted.push(codeLocationPattern(text.slice(1)));
    else included.push(codeLocationPattern(text));
  return { included, excepted };
}

function codeLocationPattern(text: string): CodeLocationPattern {
  const at = text.indexOf("!");
  const module = (at < 0 ? text : text.slice(0, at)).trim();
  const symbol = at < 0 ? undefined : text.slice(at + 1).trim();
  if (module === "" || symbol === "" || /[/\s]/.test(text))
    throw new PatternError(
      `"${text}" does not name code: write a module (libcurl, app), or module!function (libcurl!curl_easy_*)`,
    );
  const isOfModule = ofModule(module);
  const isSymbol = symbol === undefined || symbol === "*" ? undefined : compileWord(symbol);
  return {
    text,
    matches: (frame) =>
      isOfModule(frame) && (!isSymbol || (frame.symbol !== undefined && isSymbol(frame.symbol))),
  };
}

/** `libc` is libc.so.6, and so is `libc.so.6`; `app` and `main` are the program itself. */
function ofModule(pattern: string): (frame: Frame) => boolean {
  // Names such as [vdso] are names, not character sets.
  const matches = pattern.startsWith("[") ? (name: string) => name === pattern : compileWord(pattern);
  const isProgram = pattern === "app" || pattern === "main";
  return ({ module, path, isMain }) => {
    if (module === undefined) return false;
    if (isProgram && isMain) return true;
    return matches(module) || (path !== undefined && matches(path.slice(path.lastIndexOf("/") + 1)));
  };
}

/** True when some frame matches, and no exception does. */
export function onStack({ included, excepted }: CodeList, frames: readonly Frame[]): boolean {
  const has = (list: readonly CodeLocationPattern[]) =>
    list.some((pattern) => frames.some((frame) => pattern.matches(frame)));
  return (included.length === 0 || has(included)) && !has(excepted);
}

/** Libraries that only pass a call on: their caller counts. */
const PASSES_ON = /^(libc|libpthread|libdl|librt|ld-linux.*|ld-musl.*|\[vdso\])$/;

/** The innermost frame outside the C library: the code that made the call. */
export function callerOf(stack: CallStack): Frame | undefined {
  return stack.find(({ module }) => module === undefined || !PASSES_ON.test(module));
}
