import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The kernel series the committed tables are generated from. */
export const SERIES = "6.12";
/** The Debian package that carries it. */
export const PACKAGE = "linux-headers-6.12.107+deb12-common";

const NUMBER_FILES = ["/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"];

export function seriesOf(headers) {
  const makefile = readFileSync(join(headers, "Makefile"), "utf8");
  const field = (name) => makefile.match(new RegExp(`^${name} = (\\d+)`, "m"))?.[1];
  return `${field("VERSION")}.${field("PATCHLEVEL")}`;
}

/** Source-tree headers of the pinned series (with include/linux/syscalls.h), or undefined. */
export function findHeaders() {
  if (!existsSync("/usr/src")) return undefined;
  return readdirSync("/usr/src")
    .filter((name) => name.startsWith(`linux-headers-${SERIES}`))
    .sort()
    .map((name) => join("/usr/src", name))
    .find((path) => existsSync(join(path, "include/linux/syscalls.h")) && seriesOf(path) === SERIES);
}

export function missingHeaders(path = "/usr/src") {
  return [
    `No Linux ${SERIES} headers with include/linux/syscalls.h found in ${path}.`,
    `Install them (apt-get install ${PACKAGE}) or give their path: --headers DIR`,
  ].join("\n");
}

export class Headers {
  constructor(path) {
    this.path = path;
    this.series = seriesOf(path);
  }

  read(file) {
    return readFileSync(join(this.path, file), "utf8");
  }

  /** name -> number, from the machine's unistd_64.h and, above 423, the table all architectures share. */
  numbers() {
    const file = NUMBER_FILES.find((path) => existsSync(path));
    if (!file) throw new Error("asm/unistd_64.h not found. Install it: apt-get install linux-libc-dev");
    const shared = Object.entries(numbersIn(this.read("include/uapi/asm-generic/unistd.h")));
    const numbers = {
      ...Object.fromEntries(shared.filter(([, nr]) => nr >= 424)),
      ...numbersIn(readFileSync(file, "utf8")),
    };
    delete numbers.syscalls; // their count, not a call
    return numbers;
  }

  /** function name without sys_ -> [{ type, name }] */
  prototypes(text) {
    const found = {};
    const plain = text.replace(/\/\*[\s\S]*?\*\//g, " ").replace(/^#.*$/gm, " ");
    for (const [, name, list] of plain.matchAll(/\bsys_(\w+)\s*\(([^)]*)\)\s*;/g)) {
      found[name] ??= list.trim() === "void" ? [] : list.split(",").map(parameter);
    }
    return found;
  }

  /** Runs `use` with gcc arguments that see this tree's uapi headers and nothing else. */
  withCompiler(use) {
    const dir = mkdtempSync(join(tmpdir(), "abi-"));
    try {
      this.#stubs(dir);
      const include = [dir, join(this.path, "arch/x86/include/uapi"), join(this.path, "include/uapi")];
      const annotations = [
        "__user",
        "__force",
        "__bitwise",
        "__iomem",
        "__attribute_const__",
        "__always_inline",
      ].map((name) => `-D${name}=`);
      return use(
        ["-nostdinc", "-D__EXPORTED_HEADERS__", ...include.map((path) => `-I${path}`), ...annotations],
        dir,
      );
    } finally {
      rmSync(dir, { recursive: true });
    }
  }

  /** What "make headers_install" would have made: asm wrappers around asm-generic, and no compiler.h. */
  #stubs(dir) {
    for (const sub of ["asm", "linux"]) mkdirSync(join(dir, sub));
    for (const name of ["compiler.h", "compiler_types.h"]) writeFileSync(join(dir, "linux", name), "");
    for (const name of ["unistd.h", "asm/unistd_64.h"]) writeFileSync(join(dir, name), "");
    for (const name of readdirSync(join(this.path, "include/uapi/asm-generic")).filter((file) =>
      file.endsWith(".h"),
    )) {
      if (existsSync(join(this.path, "arch/x86/include/uapi/asm", name))) continue;
      writeFileSync(join(dir, "asm", name), `#include <asm-generic/${name}>\n`);
    }
  }

  /** Values of constant expressions, by name, from a program that is compiled, run and thrown away. */
  evaluate(includes, expressions) {
    return this.withCompiler((args, dir) => {
      const lines = Object.entries(expressions).map(
        ([name, expression]) => `  printf("%s %lld\\n", "${name}", (long long)(${expression}));`,
      );
      const source = [
        ...includes.map((name) => `#include <${name}>`),
        "typedef unsigned long size_t;",
        "int printf(const char *format, ...);",
        "int main(void) {",
        ...lines,
        "  return 0;",
        "}",
        "",
      ].join("\n");
      writeFileSync(join(dir, "values.c"), source);
      execFileSync("gcc", [...args, "-w", "-o", join(dir, "values"), join(dir, "values.c")], {
        stdio: "inherit",
      });
      const output = execFileSync(join(dir, "values"), { encoding: "utf8" });
      return Object.fromEntries(
        output
          .trimEnd()
          .split("\n")
          .map((line) => line.split(" "))
          .map(([name, value]) => [name, Number(value)]),
      );
    });
  }

  /** Every constant-like name the headers define: macros without parameters, and enumerators. */
  constantNames(includes) {
    return this.withCompiler((args, dir) => {
      const file = join(dir, "names.c");
      writeFileSync(file, includes.map((name) => `#include <${name}>\n`).join(""));
      const run = (more) =>
        execFileSync("gcc", [...args, "-E", ...more, file], { encoding: "utf8", maxBuffer: 1 << 26 });
      const macros = [...run(["-dM"]).matchAll(/^#define (\w+) \S/gm)].map(([, name]) => name);
      const enums = [...run(["-P"]).matchAll(/\benum\b[^{};()]*\{([^}]*)\}/g)].flatMap(([, body]) =>
        body.split(",").map((entry) => entry.trim().split(/[\s=]/)[0]),
      );
      return [...new Set([...macros, ...enums])].filter(Boolean);
    });
  }

  /** Constants of a header that is not uapi, read as text: plain numbers, in #define or enum form. */
  textConstants(file) {
    const values = {};
    for (const [, name, value] of this.read(file).matchAll(
      /^(?:#\s*define)?\s*([A-Z]\w+)\s*=?\s*\(?(0x[0-9a-fA-F]+|\d+)[uUlL]*\)?\s*(?:,|\/\*|$)/gm,
    )) {
      values[name] ??= Number(value);
    }
    return values;
  }
}

function numbersIn(text) {
  const lines = text.matchAll(/^#define __NR_(\w+)\s+(\d+)/gm);
  return Object.fromEntries([...lines].map(([, name, nr]) => [name, Number(nr)]));
}

function parameter(text) {
  const plain = text
    .replace(/__user|__force/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  const [, type, name] = plain.match(/^(.*?[\s*])(\w+)$/) ?? [undefined, plain, undefined];
  // "int", "unsigned int", "struct rlimit *": a type with no name.
  const unnamed =
    !name ||
    /^(int|long|char|unsigned|size_t|\w+_t)$/.test(name) ||
    /^(const )?(struct|union|enum)\s*$/.test(type);
  const c = (unnamed ? plain : type)
    .replace(/\s*\*\s*/g, " *")
    .replace(/\* \*/g, "**")
    .trim();
  return { type: c, name: unnamed ? undefined : name };
}
