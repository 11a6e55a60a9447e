import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HOME } from "../../nouns/home.js";
import { readPrototypes } from "./parse.js";
import { DeclarationScope } from "./scope.js";

/** The files of each library that HERMES knows, in the order in which they build on each other. */
export const SHIPPED: Readonly<Record<string, readonly string[]>> = {
  libc: [
    "libc/stdio.h",
    "libc/stdlib.h",
    "libc/string.h",
    "libc/unistd.h",
    "libc/time.h",
    "libc/process.h",
    "libc/thread.h",
    "libc/socket.h",
    "libc/locale.h",
    "libc/fortified.h",
    "libc/large-files.h",
  ],
  libm: ["libm.h"],
  libz: ["libz.h"],
  libcrypto: ["libcrypto.h"],
  libssl: ["libcrypto.h", "libssl.h"],
  libcurl: ["libcurl.h"],
};

export const KNOWN_LIBRARIES: readonly string[] = Object.keys(SHIPPED);

/** What was once a library of its own is part of libc, or is it on other systems. */
const SAME: Readonly<Record<string, string>> = {
  libpthread: "libc",
  libdl: "libc",
  librt: "libc",
  libutil: "libc",
  libanl: "libc",
  libresolv: "libc",
  libcrypt: "libc",
  "libcurl-gnutls": "libcurl",
  "libcurl-nss": "libcurl",
};

/** The prototypes that come with HERMES, read when a library's are first asked for. */
export class ShippedPrototypes {
  #types: DeclarationScope | undefined;
  readonly #read = new Map<string, DeclarationScope>();

  /** What all of them build on. */
  get types(): DeclarationScope {
    if (!this.#types) {
      this.#types = new DeclarationScope();
      load("types.h", this.#types);
    }
    return this.#types;
  }

  of(module: string): DeclarationScope | undefined {
    const library = Object.hasOwn(SAME, module) ? SAME[module]! : module;
    if (!Object.hasOwn(SHIPPED, library)) return undefined;
    const known = this.#read.get(library);
    if (known) return known;
    const scope = new DeclarationScope(this.types);
    for (const file of SHIPPED[library]!) load(file, scope);
    this.#read.set(library, scope);
    return scope;
  }
}

function load(file: string, scope: DeclarationScope): void {
  const path = join(HOME, "prototypes", file);
  readPrototypes(readFileSync(path, "utf8"), path, scope);
}
