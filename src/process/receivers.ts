import { readdirSync } from "node:fs";
import type { Receiver, ReceiverKind } from "../event.js";
import { isOurProcess } from "./ours.js";
import { processes, readLink, readText } from "./proc.js";

/** Whom a signal is meant for, in the numbers of whoever sends it. */
export type Meant =
  | { readonly process: number }
  | { readonly thread: number }
  | { readonly group: number }
  /** The process behind a descriptor of the caller's, or its group. */
  | { readonly pidfd: number; readonly itsGroup: boolean }
  | { readonly all: true };

const F_SETOWN = 8;
const PIDFD_SIGNAL_PROCESS_GROUP = 4;

/** Whom a call signals, by its arguments; undefined for calls that signal nobody, or whom they do not say. */
export function meantBy(name: string, int: (i: number) => number): Meant | undefined {
  switch (name) {
    case "kill":
    case "rt_sigqueueinfo":
      return asKill(int(0));
    case "tgkill":
    case "rt_tgsigqueueinfo":
    case "pidfd_open": // good for signals to whoever has the number now
      return { process: int(0) };
    case "tkill":
      return { thread: int(0) };
    case "pidfd_send_signal":
      return { pidfd: int(0), itsGroup: (int(3) & PIDFD_SIGNAL_PROCESS_GROUP) !== 0 };
    case "fcntl":
      return int(1) === F_SETOWN && int(2) !== 0 ? asKill(int(2)) : undefined;
    default:
      return undefined;
  }
}

/** kill(2): a process, our own group, everybody, or the group of that number. */
function asKill(number: number): Meant {
  if (number > 0) return { process: number };
  return number === -1 ? { all: true } : { group: -number };
}

interface Caller {
  readonly tid: number;
  readonly pid: number;
  readonly parentPid: number;
}

type IsOfRun = (pid: number) => boolean;

/** What /proc says of a process: its numbers in each pid namespace from ours inwards, and those of its group. */
interface Entry {
  readonly pid: number;
  readonly numbers: readonly number[];
  readonly groups: readonly number[];
}

/**
 * The processes that a signal reaches, as the kernel would find them now. One that cannot be found is told as such, with
 * nothing known of it: it may come to be before the signal is sent.
 */
export function receiversOf(meant: Meant, caller: Caller, isOfRun: IsOfRun): readonly Receiver[] {
  const own = entryOf(caller.tid);
  if (!own) return [UNKNOWN];
  const describe = (entry: Entry): Receiver => {
    const is: ReceiverKind[] = [];
    const isOwn = entry.pid === caller.pid;
    if (isOwn) is.push("own");
    is.push(isOwn || isOfRun(entry.pid) ? "session" : "outside");
    if (entry.pid === caller.parentPid) is.push("parent");
    if (entry.groups[0] === own.groups[0]) is.push("group");
    return { pid: entry.pid, is };
  };
  const found = entriesFor(meant, own, caller, isOfRun);
  return found.length > 0 ? found.map(describe) : [UNKNOWN];
}

export const UNKNOWN: Receiver = { pid: undefined, is: [] };

function entriesFor(meant: Meant, own: Entry, caller: Caller, isOfRun: IsOfRun): readonly Entry[] {
  if ("pidfd" in meant) return behind(meant, caller);
  /** In which column of the numbers the caller finds others. */
  const depth = own.numbers.length - 1;
  const others = () => (depth === 0 ? everyone() : everyone().filter(sharesNumbers(caller, isOfRun)));
  if ("all" in meant)
    return others().filter(
      ({ numbers, pid }) => (numbers[depth] ?? 0) > 1 && pid !== caller.pid && !isOurProcess(pid),
    );
  if ("group" in meant) {
    // Who is in a group is so in every namespace: a program in one of its own may share a group with others outside.
    const leaders =
      meant.group === 0 ? [own] : others().filter(({ groups }) => groups[depth] === meant.group);
    const numbers = new Set(leaders.map(({ groups }) => groups[0]));
    return everyone().filter(({ pid, groups }) => numbers.has(groups[0]) && !isOurProcess(pid));
  }
  const number = "process" in meant ? meant.process : meant.thread;
  if (depth === 0) return [entryOf(number)].filter((entry) => entry !== undefined);
  if (number === own.numbers[depth]) return [own];
  const isThread = "thread" in meant;
  return others().filter(
    ({ pid, numbers }) => numbers[depth] === number || (isThread && hasThread(pid, depth, number)),
  );
}

/** Other namespaces have the same numbers for others: what counts is of this run, or in the caller's own namespace. */
function sharesNumbers(caller: Caller, isOfRun: IsOfRun): (entry: Entry) => boolean {
  const namespace = readLink(`/proc/${caller.tid}/ns/pid`);
  return ({ pid }) => isOfRun(pid) || (namespace !== "" && readLink(`/proc/${pid}/ns/pid`) === namespace);
}

/** fdinfo of a pidfd tells its process in the numbers of whoever reads: ours. A folder of /proc is as good as one. */
function behind({ pidfd, itsGroup }: { pidfd: number; itsGroup: boolean }, caller: Caller): readonly Entry[] {
  const told = /^Pid:\s*(-?\d+)$/m.exec(readText(`/proc/${caller.tid}/fdinfo/${pidfd}`))?.[1];
  const number = Number(
    told ?? /^\/proc\/(\d+)$/.exec(readLink(`/proc/${caller.tid}/fd/${pidfd}`))?.[1] ?? 0,
  );
  const entry = number > 0 ? entryOf(number) : undefined;
  if (!entry) return [];
  return itsGroup ? everyone().filter(({ groups }) => groups[0] === entry.groups[0]) : [entry];
}

function everyone(): Entry[] {
  return processes().flatMap((pid) => entryOf(pid) ?? []);
}

/** Of a thread: the process that it is of. */
function entryOf(tid: number): Entry | undefined {
  const status = readText(`/proc/${tid}/status`);
  const columns = (name: string) =>
    new RegExp(`^${name}:\\t(.*)$`, "m").exec(status)?.[1]?.trim().split(/\s+/).map(Number) ?? [];
  const [pid] = columns("Tgid");
  return pid === undefined ? undefined : { pid, numbers: columns("NStgid"), groups: columns("NSpgid") };
}

function hasThread(pid: number, depth: number, number: number): boolean {
  return threadsOf(pid).some((tid) => {
    const numbers = /^NSpid:\t(.*)$/m.exec(readText(`/proc/${pid}/task/${tid}/status`))?.[1];
    return Number(numbers?.trim().split(/\s+/)[depth]) === number;
  });
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}
