import { gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
import { elements, knownText, list, number, PY_UNKNOWN, type PyValue, pyBytes, pyText } from "./value.js";

/** Functions and methods whose result is known when their arguments are: with them the guard decodes hidden code. */

const LONGEST = 262_144;
type Pure = (args: readonly PyValue[]) => PyValue | undefined;

const raw = (buffer: Buffer): PyValue => pyBytes(buffer.subarray(0, LONGEST).toString("latin1"));
const buffer = (value: string): Buffer => Buffer.from(value, "latin1");

function ofText(act: (v: string) => PyValue | undefined): Pure {
  return ([first]) => {
    const v = knownText(first);
    return v === undefined ? undefined : act(v);
  };
}

const base64 = ofText((v) => raw(Buffer.from(v, "base64")));
const hex = ofText((v) =>
  /^[\s0-9a-fA-F:]*$/.test(v) ? raw(Buffer.from(v.replace(/[\s:]/g, ""), "hex")) : undefined,
);
const inflate = ofText((v) => {
  for (const act of [inflateSync, gunzipSync, inflateRawSync])
    try {
      return raw(act(buffer(v), { maxOutputLength: LONGEST }));
    } catch {
      // the next format
    }
  return undefined;
});

function rot13(v: string): string {
  return v.replace(/[a-zA-Z]/g, (c) => {
    const base = c <= "Z" ? 65 : 97;
    return String.fromCharCode(((c.charCodeAt(0) - base + 13) % 26) + base);
  });
}

function base32(v: string): PyValue | undefined {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  let bits = 0;
  let held = 0;
  let result = "";
  for (const c of v.replace(/=+$/, "").toUpperCase()) {
    const digit = alphabet.indexOf(c);
    if (digit < 0) return undefined;
    held = (held << 5) | digit;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      result += String.fromCharCode((held >> bits) & 0xff);
      held &= (1 << bits) - 1;
    }
  }
  return pyBytes(result);
}

/** Base 85 in Git's alphabet (`b85decode`) and in Adobe's (`a85decode`). */
function base85(v: string, digit: (c: string) => number): PyValue | undefined {
  let result = "";
  for (let i = 0; i < v.length; i += 5) {
    const group = v.slice(i, i + 5);
    let n = 0;
    for (let j = 0; j < 5; j++) {
      const d = j < group.length ? digit(group[j]!) : 84;
      if (d < 0 || d > 84) return undefined;
      n = n * 85 + d;
    }
    const four = String.fromCharCode((n / 0x1000000) & 0xff, (n >>> 16) & 0xff, (n >>> 8) & 0xff, n & 0xff);
    result += four.slice(0, group.length - 1);
  }
  return pyBytes(result);
}
const GIT85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

function codec(value: PyValue, name: string): PyValue | undefined {
  const v = knownText(value);
  if (v === undefined) return undefined;
  const plain = name.toLowerCase().replace(/[-_]/g, "");
  if (/^rot13$/.test(plain)) return pyText(rot13(v));
  if (/^(?:hex|hexcodec)$/.test(plain)) return hex([value]);
  if (/^base64(?:codec)?$/.test(plain)) return base64([value]);
  if (/^(?:zlib|zlibcodec|zip)$/.test(plain)) return inflate([value]);
  if (/^(?:utf8|utf|u8|ascii|latin1|iso88591|cp1252)$/.test(plain))
    return pyText(plain.startsWith("u") ? buffer(v).toString("utf8") : v);
  if (/^(?:utf16|utf16le|u16)$/.test(plain))
    return pyText(
      buffer(v)
        .toString("utf16le")
        .replace(/^\ufeff/, ""),
    );
  if (/^(?:unicodeescape|rawunicodeescape)$/.test(plain))
    return pyText(
      v.replace(/\\(?:x([0-9a-f]{2})|u([0-9a-f]{4}))/gi, (_, x, u) =>
        String.fromCharCode(Number.parseInt(x ?? u, 16)),
      ),
    );
  return undefined;
}

function integer(args: readonly PyValue[]): PyValue | undefined {
  const [first, base] = args;
  if (first?.t === "number") return number(Math.trunc(first.v));
  const v = knownText(first)?.trim().replaceAll("_", "");
  const radix = base?.t === "number" ? base.v : 10;
  const n =
    v === undefined ? Number.NaN : Number.parseInt(v.replace(/^(-?)0[xob]/i, "$1"), radix === 0 ? 16 : radix);
  return Number.isNaN(n) ? undefined : number(n);
}

function codePoint(n: number): string | undefined {
  return Number.isInteger(n) && n >= 0 && n <= 0x10ffff ? String.fromCodePoint(n) : undefined;
}

function range(args: readonly PyValue[]): PyValue | undefined {
  const numbers = args.map((arg) => (arg.t === "number" ? arg.v : Number.NaN));
  if (numbers.some(Number.isNaN)) return undefined;
  const [start, stop, step] =
    numbers.length === 1 ? [0, numbers[0]!, 1] : [numbers[0]!, numbers[1]!, numbers[2] ?? 1];
  const count = Math.ceil((stop! - start!) / step!);
  if (!(count <= 4096)) return undefined;
  return list(Array.from({ length: Math.max(0, count) }, (_, i) => number(start! + i * step!)));
}

function sequence(kind: "bytes" | "list"): Pure {
  return ([first]) => {
    if (first === undefined) return kind === "bytes" ? pyBytes("") : list([]);
    if (kind === "bytes" && (first.t === "text" || first.t === "bytes"))
      return pyBytes(Buffer.from(first.v, first.t === "text" ? "utf8" : "latin1").toString("latin1"));
    const items = elements(first);
    if (items === undefined || kind === "list") return items && list(items);
    const codes = items.map((item) => (item.t === "number" ? item.v & 0xff : Number.NaN));
    return codes.some(Number.isNaN) ? undefined : raw(Buffer.from(codes));
  };
}

const reversed: Pure = ([first]) => {
  const items = first && elements(first);
  return items && list([...items].reverse());
};

export const FUNCTIONS: Readonly<Record<string, Pure>> = {
  "builtins.chr": ([n]) => {
    const c = n?.t === "number" ? codePoint(n.v) : undefined;
    return c === undefined ? undefined : pyText(c);
  },
  "builtins.ord": ofText((v) => (v === "" ? undefined : number(v.codePointAt(0)!))),
  "builtins.len": ([v]) => {
    const items = v && elements(v);
    return items && number(items.length);
  },
  "builtins.str": ([v, encoding]) => {
    if (v?.t === "number") return pyText(String(v.v));
    if (v?.t === "bytes" && encoding !== undefined) return codec(v, knownText(encoding) ?? "utf-8");
    return v?.t === "bytes" ? undefined : ofText(pyText)(v ? [v] : []);
  },
  "builtins.int": integer,
  "builtins.hex": ([n]) => (n?.t === "number" ? pyText(`0x${n.v.toString(16)}`) : undefined),
  "builtins.bytes": sequence("bytes"),
  "builtins.bytearray": sequence("bytes"),
  "builtins.memoryview": sequence("bytes"),
  "builtins.list": sequence("list"),
  "builtins.tuple": sequence("list"),
  "builtins.iter": sequence("list"),
  "builtins.reversed": reversed,
  "builtins.range": range,
  "builtins.enumerate": ([v]) => {
    const items = v && elements(v);
    return items && list(items.map((item, i) => list([number(i), item])));
  },
  "builtins.zip": (args) => {
    const all = args.map(elements);
    if (all.some((items) => items === undefined)) return undefined;
    const length = Math.min(...all.map((items) => items!.length));
    return list(
      Array.from({ length: Math.min(length, 4096) }, (_, i) => list(all.map((items) => items![i]!))),
    );
  },
  "builtins.bytes.fromhex": hex,
  "builtins.bytearray.fromhex": hex,
  "base64.b64decode": base64,
  "base64.standard_b64decode": base64,
  "base64.urlsafe_b64decode": base64,
  "base64.decodebytes": base64,
  "base64.decodestring": base64,
  "base64.b32decode": ofText(base32),
  "base64.b16decode": hex,
  "base64.b85decode": ofText((v) => base85(v, (c) => GIT85.indexOf(c))),
  "base64.a85decode": ofText((v) => base85(v.replace(/\s|<~|~>/g, ""), (c) => c.charCodeAt(0) - 33)),
  "base64.b64encode": ofText((v) => pyBytes(buffer(v).toString("base64"))),
  "binascii.unhexlify": hex,
  "binascii.a2b_hex": hex,
  "binascii.a2b_base64": base64,
  "zlib.decompress": inflate,
  "gzip.decompress": inflate,
  "codecs.decode": ([v, name]) => (v ? codec(v, knownText(name) ?? "utf-8") : undefined),
  "codecs.encode": ([v, name]) => (v && /^rot/i.test(knownText(name) ?? "") ? codec(v, "rot13") : v),
  "urllib.parse.unquote": ofText((v) => pyText(safely(() => decodeURIComponent(v)) ?? v)),
  "builtins.str.maketrans": ([from, to]) => translation(from, to),
  "os.path.join": joinPath,
  "os.path.abspath": ([v]) => v,
  "os.path.realpath": ([v]) => v,
  "os.path.normpath": ([v]) => v,
  "os.fspath": ([v]) => v,
  "os.path.expanduser": ([v]) => v,
  "os.path.expandvars": ([v]) => v,
};

function safely<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

function translation(from: PyValue | undefined, to: PyValue | undefined): PyValue | undefined {
  if (from?.t === "dict") return from;
  const [a, b] = [knownText(from), knownText(to)];
  if (a === undefined || b === undefined || a.length !== b.length) return undefined;
  return { t: "dict", entries: new Map([...a].map((c, i) => [c, pyText(b[i]!)])) };
}

function joinPath(args: readonly PyValue[]): PyValue | undefined {
  if (args.some((arg) => arg.t === "temporary")) return { t: "temporary" };
  const parts = args.map(knownText);
  if (parts.some((part) => part === undefined)) return undefined;
  return pyText(
    parts.reduce<string>(
      (path, part) =>
        part!.startsWith("/") ? part! : path === "" ? part! : `${path.replace(/\/$/, "")}/${part}`,
      "",
    ),
  );
}

type Method = (self: string, args: readonly PyValue[], same: (v: string) => PyValue) => PyValue | undefined;

const METHODS: Readonly<Record<string, Method>> = {
  join: (self, [items], same) => {
    const parts = items && elements(items)?.map(knownText);
    return parts === undefined || parts.some((part) => part === undefined)
      ? undefined
      : same(parts.join(self));
  },
  replace: (self, [from, to], same) => {
    const [a, b] = [knownText(from), knownText(to)];
    return a === undefined || b === undefined ? undefined : same(bounded(self.replaceAll(a, b)));
  },
  lower: (self, _, same) => same(self.toLowerCase()),
  upper: (self, _, same) => same(self.toUpperCase()),
  casefold: (self, _, same) => same(self.toLowerCase()),
  swapcase: (self, _, same) =>
    same([...self].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join("")),
  capitalize: (self, _, same) => same(self.charAt(0).toUpperCase() + self.slice(1).toLowerCase()),
  strip: (self, [set], same) => same(stripped(self, set, true, true)),
  lstrip: (self, [set], same) => same(stripped(self, set, true, false)),
  rstrip: (self, [set], same) => same(stripped(self, set, false, true)),
  removeprefix: (self, [part], same) =>
    same(self.startsWith(knownText(part) ?? "\0") ? self.slice(knownText(part)!.length) : self),
  removesuffix: (self, [part], same) =>
    same(
      self.endsWith(knownText(part) ?? "\0") ? self.slice(0, self.length - knownText(part)!.length) : self,
    ),
  split: (self, [separator], same) => {
    const by = separator === undefined ? undefined : knownText(separator);
    const parts = separator === undefined ? self.trim().split(/\s+/) : by ? self.split(by) : undefined;
    return parts && parts.length <= 4096 ? list(parts.map(same)) : undefined;
  },
  encode: (self) => pyBytes(Buffer.from(self, "utf8").toString("latin1")),
  decode: (self, [name]) => codec(pyBytes(self), knownText(name) ?? "utf-8"),
  hex: (self) => pyText(buffer(self).toString("hex")),
  tobytes: (self) => pyBytes(self),
  format: (self, args) => formatted(self, args),
  translate: (self, [table]) =>
    table?.t === "dict"
      ? pyText(
          [...self]
            .map((c) => knownText(table.entries.get(c) ?? table.entries.get(String(c.codePointAt(0)))) ?? c)
            .join(""),
        )
      : undefined,
};

function bounded(v: string): string {
  return v.length > LONGEST ? v.slice(0, LONGEST) : v;
}

function stripped(self: string, set: PyValue | undefined, left: boolean, right: boolean): string {
  const characters = knownText(set);
  const drop = (c: string) => (characters === undefined ? /\s/.test(c) : characters.includes(c));
  let start = 0;
  let end = self.length;
  while (left && start < end && drop(self[start]!)) start++;
  while (right && end > start && drop(self[end - 1]!)) end--;
  return self.slice(start, end);
}

function formatted(self: string, args: readonly PyValue[]): PyValue | undefined {
  let next = 0;
  let known = true;
  const result = self.replace(/\{\{|\}\}|\{(\d*)\}|\{[^}]*\}/g, (whole, index?: string) => {
    if (whole === "{{" || whole === "}}") return whole[0]!;
    const value = index === undefined ? undefined : shown(args[index === "" ? next++ : Number(index)]);
    if (value === undefined) known = false;
    return value ?? "";
  });
  return known ? pyText(bounded(result)) : undefined;
}

export function shown(value: PyValue | undefined): string | undefined {
  if (value?.t === "number") return String(value.v);
  return value?.t === "bytes" ? undefined : knownText(value);
}

/** A method of a known text; undefined when its result is unknown. */
export function constantMethod(self: PyValue, name: string, args: readonly PyValue[]): PyValue | undefined {
  if (self.t !== "text" && self.t !== "bytes") return undefined;
  const method = Object.hasOwn(METHODS, name) ? METHODS[name]! : undefined;
  return method?.(self.v, args, self.t === "text" ? pyText : pyBytes);
}

/** `a + b` and similar on known values. */
export function operate(operator: string, a: PyValue, b: PyValue): PyValue {
  if (a.t === "number" && b.t === "number") return arithmetic(operator, a.v, b.v);
  if (operator === "+") {
    if (a.t === b.t && (a.t === "text" || a.t === "bytes"))
      return { t: a.t, v: bounded(a.v + (b as { v: string }).v) };
    if (a.t === "list" && b.t === "list") return list([...a.items, ...b.items].slice(0, 4096));
  }
  if (operator === "*") return repeated(a, b) ?? repeated(b, a) ?? PY_UNKNOWN;
  if (operator === "/" && (a.t === "path" || a.t === "temporary"))
    return a.t === "temporary" ? a : under(a.v, b);
  if (operator === "%" && a.t === "text") return percent(a.v, b.t === "list" ? b.items : [b]) ?? PY_UNKNOWN;
  return PY_UNKNOWN;
}

function under(path: string, b: PyValue): PyValue {
  const part = knownText(b);
  const joined = part === undefined ? undefined : joinPath([pyText(path), pyText(part)]);
  return joined?.t === "text" ? { t: "path", v: joined.v } : PY_UNKNOWN;
}

function repeated(a: PyValue, n: PyValue): PyValue | undefined {
  if (n.t !== "number" || (a.t !== "text" && a.t !== "bytes") || a.v.length * n.v > LONGEST) return undefined;
  return { t: a.t, v: a.v.repeat(Math.max(0, Math.trunc(n.v))) };
}

function percent(self: string, args: readonly PyValue[]): PyValue | undefined {
  let next = 0;
  let known = true;
  const result = self.replace(/%%|%([sdcrxi])|%[^sdcrxi%]/g, (whole, kind?: string) => {
    if (whole === "%%") return "%";
    const arg = args[next++];
    const value = kind === "c" && arg?.t === "number" ? codePoint(arg.v) : shown(arg);
    if (value === undefined || kind === undefined) known = false;
    return value ?? "";
  });
  return known ? pyText(bounded(result)) : undefined;
}

function arithmetic(operator: string, a: number, b: number): PyValue {
  const results: Record<string, () => number> = {
    "+": () => a + b,
    "-": () => a - b,
    "*": () => a * b,
    "/": () => a / b,
    "//": () => Math.floor(a / b),
    "%": () => ((a % b) + b) % b,
    "**": () => a ** b,
    "^": () => a ^ b,
    "|": () => a | b,
    "&": () => a & b,
    "<<": () => a << b,
    ">>": () => a >> b,
  };
  const result = Object.hasOwn(results, operator) ? results[operator]!() : Number.NaN;
  return Number.isFinite(result) ? number(result) : PY_UNKNOWN;
}

/** `value[index]` and `value[start:stop:step]`. */
export function item(value: PyValue, index: PyValue): PyValue {
  if (value.t === "dict") {
    const key = index.t === "number" ? String(index.v) : knownText(index);
    return (key === undefined ? undefined : value.entries.get(key)) ?? PY_UNKNOWN;
  }
  const items = index.t === "number" && Number.isInteger(index.v) ? elements(value) : undefined;
  return items?.at((index as { v: number }).v) ?? PY_UNKNOWN;
}

export function slice(value: PyValue, start?: number, stop?: number, step = 1): PyValue {
  const items = elements(value);
  if (items === undefined || step === 0) return PY_UNKNOWN;
  const at = (n: number) => Math.min(Math.max(n < 0 ? n + items.length : n, step < 0 ? -1 : 0), items.length);
  const from =
    start === undefined
      ? step < 0
        ? items.length - 1
        : 0
      : Math.min(at(start), step < 0 ? items.length - 1 : items.length);
  const to = stop === undefined ? (step < 0 ? -1 : items.length) : at(stop);
  const kept: PyValue[] = [];
  for (let i = from; step < 0 ? i > to : i < to; i += step) kept.push(items[i]!);
  if (value.t === "text") return pyText(kept.map((k) => (k as { v: string }).v).join(""));
  if (value.t === "bytes") return raw(Buffer.from(kept.map((k) => (k as { v: number }).v)));
  return list(kept);
}
