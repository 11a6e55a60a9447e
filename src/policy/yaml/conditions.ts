import type { Syscall } from "../../abi/index.js";
import { type Address, formatAddress } from "../../nouns/address.js";
import { type AddressList, matchAddresses, namesNetworks } from "../match/address.js";
import { type ArgvPattern, baseName, type CommandLine } from "../match/argv.js";
import {
  type FlagNames,
  type FlagTests,
  flagCases,
  flagSense,
  flagsArgument,
  flagTests,
  matchFlags,
} from "../match/flags.js";
import { compileGlob, compileWord, type Glob, matchGlob, PatternError, split } from "../match/glob.js";
import { matchBelow, matchPaths, type PathList } from "../match/path.js";
import { ANYWHERE, type EffectSubject } from "../match/subject.js";
import type { TimeWindow } from "../match/time.js";
import type { RuleCondition, RuleInput } from "./rule.js";

/**
 * The conditions of rules, one function each. `strict` means that the rule restricts: in doubt, it matches.
 */

export function onPaths(list: PathList, texts: readonly string[], strict: boolean): RuleCondition {
  return {
    key: "path",
    holds: ({ subject }) => holdsForPath(list, subject, strict),
    tell: ({ subject }) =>
      subject.path === undefined
        ? "it has no file"
        : `${subject.path ?? "a file that cannot be named"} is not in ${texts.join(", ")}`,
  };
}

function holdsForPath(list: PathList, { path, alias, subtree }: EffectSubject, strict: boolean): boolean {
  if (path === undefined) return false;
  if (path === null) return strict;
  if (matchPaths(list, path, alias)) return true;
  return subtree && strict && matchBelow(list, path);
}

/**
 * The rule holds unless this run created the place: the file's folder, or the folder that holds a pattern's
 * first name.
 */
export function unlessMade(what: "project" | "folder" | "file", list: PathList | undefined): RuleCondition {
  if (!list || list.included.length === 0)
    throw new PatternError("`unless_made` needs a `path`: it is about the folders of files");
  const depths = list.included.map(depthOfName);
  return {
    key: "unless_made",
    holds: ({ event, subject: { path } }) => {
      const named = event.paths.find((argument) => argument.path === path);
      // An open descriptor was judged when it was opened.
      if (path && !named) return what !== "file" || event.fd?.target !== path;
      if (!path || !named?.madeHere) return true;
      const levels = what === "file" ? -1 : what === "folder" ? 0 : levelsAbove(depths, path);
      return levels === undefined || !named.madeHere(levels);
    },
    tell: ({ subject }) => `this run created ${what === "file" ? "" : "the folder of "}${subject.path}`,
  };
}

/** How many levels above the path's folder the outermost folder is that holds a pattern's first name. */
function levelsAbove(depths: readonly DepthOfName[], path: string): number | undefined {
  const components = split(path);
  const found = depths.map((depth) => depth(components)).filter((depth) => depth !== undefined);
  return found.length === 0 ? undefined : components.length - 1 - Math.min(...found);
}

type DepthOfName = (components: readonly string[]) => number | undefined;

/** The depth in a path of the name that follows the first `**` of a pattern. */
function depthOfName({ text }: Glob): DepthOfName {
  const at = text.indexOf("**/");
  const rest = at < 0 ? undefined : compileGlob(`/${text.slice(at + 3)}`);
  return (components) => {
    const depth = rest ? components.findIndex((_, i) => matchGlob(rest, components.slice(i))) : -1;
    return depth < 0 ? undefined : depth;
  };
}

export function onAddresses(list: AddressList, texts: readonly string[], strict: boolean): RuleCondition {
  return {
    key: "address",
    holds: ({ subject: { address }, event }) => {
      if (address === ANYWHERE) return strict && namesNetworks(list);
      return address !== undefined && matchAddresses(list, address, event, strict);
    },
    tell: ({ subject: { address } }) =>
      address ? `${nameOfAddress(address)} is not in ${texts.join(", ")}` : "it carries no address",
  };
}

export function nameOfAddress(address: Address | typeof ANYWHERE): string {
  return address === ANYWHERE ? "an address that the call does not show" : formatAddress(address);
}

/** The command line of an exec, undefined when it could not be read. */
export function commandLine({ event }: RuleInput): CommandLine | undefined {
  const { argv } = event;
  const files = [event.path, event.requested].filter((file) => file !== undefined && file !== "");
  return argv && { argv, files: files as string[] };
}

export function onArgv(pattern: ArgvPattern, texts: readonly string[], strict: boolean): RuleCondition {
  return {
    key: "argv",
    holds: (input) => {
      if (!runsProgram(input.call)) return false;
      const command = commandLine(input);
      return command ? pattern.match(command, strict) : strict;
    },
    tell: ({ event }) =>
      `the command line ${JSON.stringify(event.argv ?? [])} does not begin with ${texts.join(" ")}`,
  };
}

export function onArgvText(matches: (text: string) => boolean, text: string, strict: boolean): RuleCondition {
  return {
    key: "argv_matches",
    holds: (input) => {
      if (!runsProgram(input.call)) return false;
      const command = commandLine(input);
      if (!command) return strict;
      // The program chooses its own first word, so the file that really runs counts.
      const names = command.files.map(baseName);
      if (strict) names.push(command.argv[0] ?? "");
      return names.some((name) => matches([name, ...command.argv.slice(1)].join(" ")));
    },
    tell: ({ event }) => `the command line ${JSON.stringify(event.argv ?? [])} does not match /${text}/`,
  };
}

export function runsProgram(call: Syscall): boolean {
  return call.args.some(({ kind }) => kind === "argv");
}

/** Names that are set (`!NAME`: not set), or patterns of values. */
export function onEnv(
  wanted: Readonly<Record<string, string>> | readonly string[],
  strict: boolean,
): RuleCondition {
  const tests = Array.isArray(wanted)
    ? (wanted as readonly string[]).map((text) =>
        text.startsWith("!") ? { name: text.slice(1), isSet: false } : { name: text, isSet: true },
      )
    : Object.entries(wanted as Readonly<Record<string, string>>).map(([name, value]) => ({
        name,
        isSet: true,
        value: compileWord(value),
      }));
  const all = tests.map((test) => ({ ...test, isName: compileWord(test.name) }));
  return {
    key: "env",
    holds: ({ event, call }) => {
      if (!runsProgram(call)) return false;
      const { env } = event;
      if (!env) return strict;
      return all.every((test) => {
        const found = env.some((setting) => {
          const at = setting.indexOf("=");
          const name = at < 0 ? setting : setting.slice(0, at);
          return (
            test.isName(name) &&
            (!("value" in test) || (test.value as (v: string) => boolean)(setting.slice(at + 1)))
          );
        });
        return found === test.isSet;
      });
    },
    tell: () => "the environment differs",
  };
}

export function onUser(
  uids: readonly number[],
  excepted: readonly number[],
  texts: readonly string[],
): RuleCondition {
  return {
    key: "user",
    holds: ({ event }) => {
      const { uid } = event.process;
      return (uids.length === 0 || uids.includes(uid)) && !excepted.includes(uid);
    },
    tell: ({ event }) => `user ${event.process.uid} is not in ${texts.join(", ")}`,
  };
}

const MAX_ANCESTORS = 256;

interface ProcessLists {
  readonly exe?: PathList;
  readonly ancestor?: PathList;
  readonly cwd?: PathList;
  /** The file of the run's program. */
  readonly program?: PathList;
  /** How far below the run's program. */
  readonly depth?: readonly number[];
}

export function onProcess(
  { exe, ancestor, cwd, program, depth }: ProcessLists,
  strict: boolean,
): RuleCondition {
  // A process that is about to end may have no program any more.
  const runs = (list: PathList, file: string) => (file === "" ? strict : matchPaths(list, file));
  const isAt = (list: readonly number[], at: number | undefined) =>
    at === undefined ? strict : list.includes(at);
  return {
    key: "process",
    holds: ({ event: { process } }) =>
      (!exe || runs(exe, process.exe)) &&
      (!cwd || runs(cwd, process.cwd)) &&
      (!depth || isAt(depth, process.depth)) &&
      (!program || runs(program, process.program ?? "")) &&
      (!ancestor || hasAncestor(process, ancestor)),
    tell: ({ event: { process } }) =>
      `the program is ${process.exe}${depth ? `, ${process.depth ?? "not"} below the run's program` : ""}`,
  };
}

function hasAncestor(process: RuleInput["event"]["process"], list: PathList): boolean {
  let at = process.parent;
  for (let i = 0; at && i < MAX_ANCESTORS; i++) {
    if (at.exe !== "" && matchPaths(list, at.exe)) return true;
    at = at.parent;
  }
  return false;
}

export function onFd(
  numbers: readonly number[] | undefined,
  target: PathList | undefined,
  kind: string | undefined,
): RuleCondition {
  return {
    key: "fd",
    holds: ({ event: { fd } }) =>
      fd !== undefined &&
      (!numbers || numbers.includes(fd.number)) &&
      (!kind || fd.kind === kind) &&
      (!target || (fd.target?.startsWith("/") === true && matchPaths(target, fd.target))),
    tell: ({ event: { fd } }) =>
      fd ? `descriptor ${fd.number} is ${fd.target ?? "closed"}` : "it has no descriptor",
  };
}

export function onFlags(names: FlagNames, calls: readonly Syscall[]): RuleCondition {
  const byCall = new Map<number, FlagTests | undefined>(
    calls.map((call) => [call.nr, flagTests(call, names)]),
  );
  return {
    key: "flags",
    holds: ({ call, bits }) => {
      const tests = byCall.get(call.nr);
      return tests !== undefined && matchFlags(tests, bits);
    },
    tell: ({ event }) => `its flags are ${event.flags.join("|") || "none"}`,
    constants: (call) => {
      const tests = byCall.get(call.nr);
      const found = flagsArgument(call);
      return tests && found?.argument.kind === "flags"
        ? flagCases(found.argument, found.index, tests)
        : undefined;
    },
    sense: (call) => {
      const tests = byCall.get(call.nr);
      return tests ? flagSense(tests) : "never";
    },
  };
}

export function onTime(windows: readonly TimeWindow[], texts: readonly string[]): RuleCondition {
  return {
    key: "time",
    holds: ({ event }) => windows.some((window) => window(event.time)),
    tell: ({ event }) => `${new Date(event.time * 1000).toISOString()} is not in ${texts.join(", ")}`,
  };
}
