import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Elf } from "../../../src/binary/elf/index.js";
import type { DeclarationScope } from "../../../src/binary/prototypes/scope.js";
import { SHIPPED, ShippedPrototypes } from "../../../src/binary/prototypes/shipped.js";
import { root } from "../../support/root.js";

/** Of a C library that is newer than Debian 12's, or in a library beside it. */
const LATER = /^(__isoc23_.*|crypt)$/;

const shipped = new ShippedPrototypes();

/** Our declarations in plain C, behind the system's own: what disagrees is an error of the compiler's. */
function asC(scope: DeclarationScope, headers: ReadonlySet<string>): string {
  return [
    "#define _GNU_SOURCE",
    "#define OPENSSL_SUPPRESS_DEPRECATED",
    "#define CURL_DISABLE_TYPECHECK",
    "#define CURL_DISABLE_DEPRECATION",
    "#define _FILE_OFFSET_BITS 64",
    ...[...headers].map((header) => `#include <${header}>`),
    ...[...scope.prototypes.values()]
      .filter((prototype) => prototype.header !== undefined)
      .flatMap(({ name, declaration }) => [`#undef ${name}`, `${declaration};`]),
    ...[...scope.tables.values()]
      .flatMap((table) => Object.entries(table.values))
      .map(
        ([name, value]) =>
          `_Static_assert((long)${name} == ${value} || (unsigned)${name} == ${value}u, "${name}");`,
      ),
    ...[...scope.tags].flatMap(([tag, type]) => {
      if (type.kind !== "struct" || !type.fields) return [];
      return [
        `_Static_assert(sizeof(${tag}) == ${type.size}, "size of ${tag}");`,
        ...type.fields.map(
          ({ name, offset }) =>
            `_Static_assert(__builtin_offsetof(${tag}, ${name}) == ${offset}, "${tag}.${name}");`,
        ),
      ];
    }),
    ...[...scope.types].flatMap(([name, type]) =>
      type.kind === "int" && !type.names
        ? [
            `_Static_assert(sizeof(${name}) == ${type.size} && ((${name})-1 < 0) == ${Number(type.signed)}, "${name}");`,
          ]
        : [],
    ),
  ].join("\n");
}

function compile(text: string): string {
  const { stderr } = spawnSync("gcc", ["-xc", "-fsyntax-only", "-fno-builtin", "-w", "-"], {
    input: text,
    encoding: "utf8",
  });
  return stderr;
}

/** Headers that a library's files name. */
function headersOf(library: string): Set<string> {
  const files = ["types.h", ...SHIPPED[library]!];
  const texts = files.map((file) => readFileSync(join(root, "prototypes", file), "utf8"));
  return new Set(texts.flatMap((text) => [...text.matchAll(/^#include <(.*)>/gm)].map((match) => match[1]!)));
}

describe("the prototypes that come with HERMES", () => {
  it.each(Object.keys(SHIPPED))("agree with the system's headers: %s", (library) => {
    expect(compile(asC(shipped.of(library)!, headersOf(library)))).toBe("");
  });

  it("would not agree if one were wrong", () => {
    const wrong = "#include <stdlib.h>\nchar *getenv(int name);\n";
    expect(compile(wrong)).toContain("conflicting types for");
  });

  it("name functions that the libraries really have", () => {
    const files = {
      libc: "libc.so.6",
      libm: "libm.so.6",
      libz: "libz.so.1",
      libcrypto: "libcrypto.so.3",
      libcurl: "libcurl.so.4",
    };
    for (const [library, file] of Object.entries(files)) {
      const { symbols } = Elf.open(join("/lib/x86_64-linux-gnu", file));
      const { prototypes, aliases } = shipped.of(library)!;
      const unknown = [...prototypes.keys(), ...aliases.keys()].filter(
        (name) => symbols.exported(name).length === 0,
      );
      expect({ library, unknown: unknown.filter((name) => !LATER.test(name)) }).toEqual({
        library,
        unknown: [],
      });
    }
  });
});
