import { compileAddress, type ExpandAddress } from "../match/address.js";
import { compileWord, expandGlobBraces } from "../match/glob.js";
import type { Variables } from "./variables.js";

/** Reads addresses in rules. `permits`: a pattern in a permission must be certain. */
export function addressExpansion(
  hosts: (name: string) => readonly string[],
  variables: Variables,
  permits: boolean,
): ExpandAddress {
  return {
    host: hosts,
    path: (text) =>
      expandGlobBraces(text === "" ? "**" : text).flatMap((path) => variables.paths(path, permits)),
    word: compileWord,
  };
}

/** The host names in a rule: they must be resolved before it can be compiled. */
export function hostsIn(texts: readonly string[], variables: Variables): string[] {
  const hosts: string[] = [];
  const collect: ExpandAddress = {
    host: (name) => {
      hosts.push(name);
      return [];
    },
    path: () => [],
    word: () => () => false,
  };
  for (const text of texts) {
    try {
      for (const value of variables.expand(text.replace(/^!/, ""))) compileAddress(value, collect);
    } catch {
      // compileRule reports the error, with its line.
    }
  }
  return hosts;
}
