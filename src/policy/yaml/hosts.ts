import { compileAddress, type ExpandAddress } from "../match/address.js";
import { compileWord, expandBraces } from "../match/glob.js";
import type { Compilation } from "./compile.js";
import type { Variables } from "./variables.js";

/** What host names and paths in an address mean. */
export function addressExpansion({ hosts, variables }: Compilation, permits: boolean): ExpandAddress {
  return {
    host: hosts,
    path: (text) => expandBraces(text === "" ? "**" : text).flatMap((path) => variables.paths(path, permits)),
    word: compileWord,
  };
}

/** The host names in a rule: they must be looked up before it can be compiled. */
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
      // What is wrong with it is told, with its line, when the rule is compiled.
    }
  }
  return hosts;
}
