import { SYSCALLS, suggest, syscallByName, syscallsOfClass } from "../../abi/index.js";
import { HermesError } from "../../nouns/errors.js";
import { STATUSES, type Status } from "./strace-encoder.js";

/** What strace's `-e` expressions choose. */
interface Filter {
  /** Names of system calls; all when absent. */
  readonly events?: readonly string[];
  readonly status?: readonly Status[];
}

/** strace's words for groups that are called otherwise here, or that are lists of names. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  descriptor: ["%desc"],
  net: ["%network"],
  creds: ["%credential"],
  sigs: ["%signal"],
  clock: [
    "clock_gettime",
    "clock_settime",
    "clock_getres",
    "clock_adjtime",
    "gettimeofday",
    "settimeofday",
    "adjtimex",
    "time",
  ],
  stat: ["stat"],
  lstat: ["lstat"],
  fstat: ["fstat", "newfstatat"],
  "%stat": ["stat", "lstat", "fstat", "newfstatat", "statx"],
  statfs: ["statfs"],
  fstatfs: ["fstatfs"],
  "%statfs": ["statfs", "fstatfs", "ustat"],
  pure: [
    "getpid",
    "getppid",
    "gettid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getpgrp",
    "getpgid",
    "getsid",
  ],
};

/** Words that strace took without the `%` in earlier times; some of our system calls have the same names. */
const BARE = new Set(["file", "desc", "process", "network", "signal", "ipc", "memory"]);

/** `trace=openat,%network`, `%file`, `!read,write`, `status=failed`, `/^get`, `?name`. Several add up. */
export function parseFilter(expressions: readonly string[]): Filter {
  let events: Set<string> | undefined;
  let status: readonly Status[] | undefined;
  for (const expression of expressions) {
    const [, kind = "trace", list = ""] = /^(?:(\w+)=)?(.*)$/s.exec(expression)!;
    if (kind === "trace" || kind === "t") events = new Set([...(events ?? []), ...chosen(list)]);
    else if (kind === "status") status = statuses(list);
    else
      throw usage(
        `-e ${kind}=… is not known here (trace=… and status=… are); a policy can change what calls do`,
      );
  }
  return { ...(events && { events: [...events] }), ...(status && { status }) };
}

function chosen(list: string): readonly string[] {
  const except = list.startsWith("!");
  const names = new Set((except ? list.slice(1) : list).split(",").filter(Boolean).flatMap(namesOf));
  if (!except) return [...names];
  return SYSCALLS.map((call) => call.name).filter((name) => !names.has(name));
}

function namesOf(word: string): readonly string[] {
  const all = SYSCALLS.map((call) => call.name);
  if (word === "all") return all;
  if (word === "none") return [];
  if (word.startsWith("/")) return matching(word.slice(1), all);
  const maybe = word.startsWith("?");
  const name = maybe ? word.slice(1) : word;
  if (name.startsWith("%") || BARE.has(name)) return groupOf(name.replace("%", ""), word);
  if (syscallByName(name)) return [name];
  if (maybe) return [];
  const similar = suggest(name, all);
  throw usage(`-e: unknown system call "${name}"${similar ? `: did you mean ${similar}?` : ""}`);
}

function groupOf(group: string, word: string): readonly string[] {
  const listed = Object.hasOwn(GROUPS, group) ? GROUPS[group] : undefined;
  if (listed) return listed.flatMap(namesOf);
  const calls = syscallsOfClass(group);
  if (calls.length === 0) throw usage(`-e: unknown class of system calls "${word}"`);
  return calls.map((call) => call.name);
}

function matching(pattern: string, names: readonly string[]): readonly string[] {
  try {
    const expression = new RegExp(pattern);
    return names.filter((name) => expression.test(name));
  } catch (cause) {
    throw usage(`-e /${pattern}: ${(cause as Error).message}`);
  }
}

function statuses(list: string): readonly Status[] {
  const except = list.startsWith("!");
  const named = (except ? list.slice(1) : list)
    .split(",")
    .filter(Boolean)
    .flatMap((word): Status[] => {
      if (word === "all") return [...STATUSES];
      if (word === "none") return [];
      const status = STATUSES.find((known) => known === word);
      // Calls that were made by a program which has gone away in between: there are none here.
      if (!status && word !== "unavailable" && word !== "detached")
        throw usage(`-e status=${word}: it is one of ${STATUSES.join(", ")}`);
      return status ? [status] : [];
    });
  return except ? STATUSES.filter((status) => !named.includes(status)) : named;
}

function usage(message: string): HermesError {
  return new HermesError("USAGE", { message });
}
