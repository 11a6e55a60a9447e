import type { Function as FunctionNode } from "unbash";
import { byName, HOLE } from "./script.js";

/** A function keeps the text that its positions point into. */
export interface DefinedFunction {
  readonly body: FunctionNode["body"];
  readonly source: string;
  called: boolean;
}

/** What a shell knows at one point of a script: variables, functions, aliases, arguments, working directory. */
export class ShellScope {
  /** Variables of this scope; undefined: unset in this scope. */
  readonly #variables: Map<string, readonly string[] | undefined>;
  readonly #home: readonly string[];
  readonly functions: Map<string, DefinedFunction>;
  readonly aliases: Map<string, string>;
  arguments: readonly string[] | undefined;
  cwd: string;

  constructor(cwd: string, home: string, from?: ShellScope) {
    this.cwd = cwd;
    this.#home = [home];
    this.#variables = new Map(from ? from.#variables : []);
    this.functions = new Map(from?.functions);
    this.aliases = new Map(from?.aliases);
    this.arguments = from?.arguments;
  }

  /** A subshell sees everything and changes nothing. */
  copy(): ShellScope {
    return new ShellScope(this.cwd, this.#home[0]!, this);
  }

  get(name: string): readonly string[] | undefined {
    if (this.#variables.has(name)) return this.#variables.get(name);
    return name === "HOME" ? this.#home : name === "PWD" ? [this.cwd] : SHELL_VARIABLES.get(name);
  }

  set(name: string, values: readonly string[]): void {
    this.#variables.set(name, values);
  }

  /** Marks a variable as unknown: after `unset` it is empty, after `read` it can be anything. */
  forget(name: string): void {
    this.#variables.set(name, undefined);
  }

  /** After a branch that may not have run: a variable stays known only if the branch did not change it. */
  merge(before: ShellScope): void {
    for (const [name, values] of this.#variables) {
      const old = before.get(name);
      if (old !== undefined && old.join(" ") !== values?.join(" ")) this.#variables.set(name, [HOLE]);
    }
  }
}

/** Values of the variables that every shell has, where they matter. */
const SHELL_VARIABLES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    SHELL: "/bin/bash",
    BASH: "/bin/bash",
    PATH: "/usr/local/bin:/usr/bin:/bin",
    IFS: " \t\n",
    LANG: "en_US.UTF-8",
    TERM: "xterm",
    OSTYPE: "linux-gnu",
    UID: "1000",
    EUID: "1000",
    PPID: "4242",
    RANDOM: "4242",
    SECONDS: "1",
    LINENO: "1",
    CC: "cc",
    CXX: "c++",
    MAKE: "make",
    NODE: "node",
    NPM: "npm",
    PYTHON: "python3",
    npm_execpath: "npm",
  }).map(([name, value]) => [name, [value]]),
);

/** `$$`, `$?` and similar are numbers; their value does not matter. */
export const SPECIAL = byName<string>({
  $: "4242",
  "?": "0",
  "!": "4243",
  "-": "himBH",
  "0": "bash",
});
