import type { Scope } from "./scope.js";
import type { Node } from "./tree.js";

/** What is known of a Python value without running the program. */
export type Value =
  | { readonly t: "unknown" }
  | { readonly t: "none" }
  | { readonly t: "text"; readonly v: string }
  /** One character per byte. */
  | { readonly t: "bytes"; readonly v: string }
  | { readonly t: "number"; readonly v: number }
  | { readonly t: "list"; readonly items: readonly Value[] }
  | { readonly t: "dict"; readonly entries: ReadonlyMap<string, Value> }
  /** Something of a module: `os.system`, `builtins.eval`, or the module itself. */
  | { readonly t: "ref"; readonly path: string }
  /** What came out of calling that. */
  | { readonly t: "result"; readonly of: string; readonly args: readonly Value[] }
  /** An attribute of a value that is no module. */
  | { readonly t: "member"; readonly of: Value; readonly name: string }
  | { readonly t: "path"; readonly v: string }
  /** A file or folder that `tempfile` made for this script. */
  | { readonly t: "temporary" }
  /** All environment variables, or a copy of them. */
  | { readonly t: "environ" }
  | { readonly t: "function"; readonly node: Node; readonly scope: Scope }
  /** A function with its first arguments. */
  | { readonly t: "partial"; readonly of: Value; readonly args: readonly Value[] }
  | { readonly t: "any"; readonly of: readonly Value[] };

export const UNKNOWN: Value = { t: "unknown" };
export const NONE: Value = { t: "none" };
export const text = (v: string): Value => ({ t: "text", v });
export const bytes = (v: string): Value => ({ t: "bytes", v });
export const number = (v: number): Value => ({ t: "number", v });
export const list = (items: readonly Value[]): Value => ({ t: "list", items });
export const ref = (path: string): Value => ({ t: "ref", path: canonical(path) });

const MOST_OPTIONS = 12;
const MOST_LOOKED_AT = 64;

/** One of several values. */
export function any(values: readonly Value[]): Value {
  const flat = values.slice(0, MOST_LOOKED_AT).flatMap((value) => options(value));
  const seen = new Set<string>();
  const distinct = flat.filter((value) => {
    const key = keyOf(value);
    if (key === undefined) return true;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  if (distinct.length === 1) return distinct[0]!;
  const whole = distinct.length <= MOST_OPTIONS && values.length <= MOST_LOOKED_AT;
  return { t: "any", of: whole ? distinct : [...distinct.slice(0, MOST_OPTIONS), UNKNOWN] };
}

function keyOf(value: Value): string | undefined {
  switch (value.t) {
    case "text":
    case "bytes":
    case "path":
      return `${value.t}:${value.v}`;
    case "number":
      return `number:${value.v}`;
    case "ref":
      return `ref:${value.path}`;
    case "unknown":
    case "none":
    case "environ":
    case "temporary":
      return value.t;
    default:
      return undefined;
  }
}

export function options(value: Value): readonly Value[] {
  return value.t === "any" ? value.of : [value];
}

/** A known text, of a string or a path; undefined when there are several or none. */
export function textOf(value: Value | undefined): string | undefined {
  return value?.t === "text" || value?.t === "path" || value?.t === "bytes" ? value.v : undefined;
}

/** The elements of what can be iterated over, when they are known. */
export function elements(value: Value): readonly Value[] | undefined {
  switch (value.t) {
    case "list":
      return value.items;
    case "text":
      return value.v.length <= 100_000 ? [...value.v].map(text) : undefined;
    case "bytes":
      return value.v.length <= 100_000 ? [...value.v].map((c) => number(c.charCodeAt(0))) : undefined;
    case "dict":
      return [...value.entries.keys()].map(text);
    default:
      return undefined;
  }
}

/** Modules that others hold, and reach as `shutil.os` or `random._os`; and the same module by another name. */
const HELD = /^(?:.*\.)?_?(os|sys|subprocess|socket|shutil|builtins|importlib|ctypes|pty|io)(?=\.|$)/;
/** The class that is called like its module. */
const OWN_NAMESAKE = /^socket\.socket(?:\.|$)/;
const SUBMODULES =
  /^(?:asyncio\.subprocess|werkzeug|django\.|numpy\.|scipy\.io|skimage\.io|PIL\.|torch\.|tensorflow\.|pandas\.io|fs\.)/;
const SAME: Readonly<Record<string, string>> = {
  posix: "os",
  nt: "os",
  _posixsubprocess: "subprocess",
  subprocess32: "subprocess",
  __builtin__: "builtins",
  __builtins__: "builtins",
  _socket: "socket",
  "os.environb": "os.environ",
  "posix.environ": "os.environ",
};

/** Constants of modules that scripts build arguments of. */
const CONSTANTS: Readonly<Record<string, Value>> = {
  "stat.S_ISUID": number(0o4000),
  "stat.S_ISGID": number(0o2000),
  "stat.S_IRWXU": number(0o700),
  "stat.S_IRWXG": number(0o070),
  "stat.S_IRWXO": number(0o007),
  "stat.S_IWOTH": number(0o002),
  "stat.S_IROTH": number(0o004),
  "stat.S_IXOTH": number(0o001),
  "stat.S_IWGRP": number(0o020),
  "stat.S_IRUSR": number(0o400),
  "stat.S_IWUSR": number(0o200),
  "stat.S_IXUSR": number(0o100),
  "signal.SIGKILL": number(9),
  "signal.SIGTERM": number(15),
  "os.sep": text("/"),
  "os.devnull": text("/dev/null"),
  "string.ascii_lowercase": text("abcdefghijklmnopqrstuvwxyz"),
  "string.ascii_uppercase": text("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
  "string.ascii_letters": text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
  "string.digits": text("0123456789"),
  "string.printable": text("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
  "os.environ": { t: "environ" },
};

/** What a name of a module stands for. */
export function constantOf(path: string): Value | undefined {
  return Object.hasOwn(CONSTANTS, path) ? CONSTANTS[path] : undefined;
}

/** One name for one thing. */
export function canonical(path: string): string {
  let name = path;
  if (name.includes(".") && !SUBMODULES.test(name)) {
    const match = HELD.exec(name);
    if (match && match[0].length > match[1]!.length && !OWN_NAMESAKE.test(name))
      name = match[1]! + name.slice(match[0].length);
  }
  const dot = name.indexOf(".");
  const head = dot < 0 ? name : name.slice(0, dot);
  name = (Object.hasOwn(SAME, head) ? SAME[head]! : head) + (dot < 0 ? "" : name.slice(dot));
  return Object.hasOwn(SAME, name) ? SAME[name]! : name;
}

/** From a value up to `object`, by way of its class. */
export function climbs(value: Value): boolean {
  if (value.t === "ref")
    return (
      value.path === "builtins.object" ||
      value.path === "builtins.type" ||
      /__(?:class|base|bases|mro)__/.test(value.path)
    );
  if (value.t === "member") return /^__(?:class|base|bases|mro)__$/.test(value.name) || climbs(value.of);
  if (value.t === "result") return value.args.some(climbs);
  return value.t === "unknown" ? false : value.t === "any" && value.of.some(climbs);
}
