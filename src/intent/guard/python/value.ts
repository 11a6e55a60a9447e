import type { PythonScope } from "./scope.js";
import type { SyntaxNode } from "./tree.js";

/** What is known about a Python value without running the program. */
export type PyValue =
  | { readonly t: "unknown" }
  | { readonly t: "none" }
  | { readonly t: "text"; readonly v: string }
  /** One character per byte. */
  | { readonly t: "bytes"; readonly v: string }
  | { readonly t: "number"; readonly v: number }
  | { readonly t: "list"; readonly items: readonly PyValue[] }
  | { readonly t: "dict"; readonly entries: ReadonlyMap<string, PyValue> }
  /** A member of a module, `os.system` or `builtins.eval`, or the module itself. */
  | { readonly t: "ref"; readonly path: string }
  /** The result of calling that. */
  | { readonly t: "result"; readonly of: string; readonly args: readonly PyValue[] }
  /** An attribute of a value that is no module. */
  | { readonly t: "member"; readonly of: PyValue; readonly name: string }
  | { readonly t: "path"; readonly v: string }
  /** A file or folder that `tempfile` made for this script. */
  | { readonly t: "temporary" }
  /** The whole environment, or a copy of it. */
  | { readonly t: "environ" }
  | { readonly t: "function"; readonly node: SyntaxNode; readonly scope: PythonScope }
  /** A function with some arguments bound. */
  | { readonly t: "partial"; readonly of: PyValue; readonly args: readonly PyValue[] }
  | { readonly t: "any"; readonly of: readonly PyValue[] };

export const PY_UNKNOWN: PyValue = { t: "unknown" };
export const NONE: PyValue = { t: "none" };
export const pyText = (v: string): PyValue => ({ t: "text", v });
export const pyBytes = (v: string): PyValue => ({ t: "bytes", v });
export const number = (v: number): PyValue => ({ t: "number", v });
export const list = (items: readonly PyValue[]): PyValue => ({ t: "list", items });
export const ref = (path: string): PyValue => ({ t: "ref", path: canonicalName(path) });

const MOST_OPTIONS = 12;
const MOST_LOOKED_AT = 64;

/** One of several values. */
export function any(values: readonly PyValue[]): PyValue {
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
  return { t: "any", of: whole ? distinct : [...distinct.slice(0, MOST_OPTIONS), PY_UNKNOWN] };
}

function keyOf(value: PyValue): string | undefined {
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

export function options(value: PyValue): readonly PyValue[] {
  return value.t === "any" ? value.of : [value];
}

/** A known text, of a string or a path; undefined when there are several or none. */
export function knownText(value: PyValue | undefined): string | undefined {
  return value?.t === "text" || value?.t === "path" || value?.t === "bytes" ? value.v : undefined;
}

/** The elements of an iterable, when they are known. */
export function elements(value: PyValue): readonly PyValue[] | undefined {
  switch (value.t) {
    case "list":
      return value.items;
    case "text":
      return value.v.length <= 100_000 ? [...value.v].map(pyText) : undefined;
    case "bytes":
      return value.v.length <= 100_000 ? [...value.v].map((c) => number(c.charCodeAt(0))) : undefined;
    case "dict":
      return [...value.entries.keys()].map(pyText);
    default:
      return undefined;
  }
}

/** Modules reached through others, such as `shutil.os` or `random._os`; and modules with a second name. */
const HELD = /^(?:.*\.)?_?(os|sys|subprocess|socket|shutil|builtins|importlib|ctypes|pty|io)(?=\.|$)/;
/** Classes with the same name as their module. */
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

/** Constants of modules that scripts use to build arguments. */
const CONSTANTS: Readonly<Record<string, PyValue>> = {
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
  "os.sep": pyText("/"),
  "os.devnull": pyText("/dev/null"),
  "string.ascii_lowercase": pyText("abcdefghijklmnopqrstuvwxyz"),
  "string.ascii_uppercase": pyText("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
  "string.ascii_letters": pyText("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
  "string.digits": pyText("0123456789"),
  "string.printable": pyText("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
  "os.environ": { t: "environ" },
};

/** What a name of a module means. */
export function constantOf(path: string): PyValue | undefined {
  return Object.hasOwn(CONSTANTS, path) ? CONSTANTS[path] : undefined;
}

/** One name for one thing. */
export function canonicalName(path: string): string {
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

/** From a value up to `object`, through its class. */
export function climbs(value: PyValue): boolean {
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
