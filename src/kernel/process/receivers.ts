import { readdirSync } from "node:fs";
import { flagsValue } from "../../abi/named.js";
import type { Receiver, ReceiverKind } from "../../nouns/event.js";
import { isHermesProcess } from "./hermes-processes.js";
import { processes, readLink, readText } from "./proc.js";

/** The target of a signal, in the sender's pid numbers. */
type SignalTarget =
  | { readonly process: number }
  | { readonly thread: number }
  | { readonly group: number }
  /** The process behind a descriptor of the caller, or that process's group. */
  | { readonly pidfd: number; readonly itsGroup: boolean }
  | { readonly all: true };

const F_SETOWN = flagsValue("fcntl", "F_SETOWN");
const PIDFD_SIGNAL_PROCESS_GROUP = flagsValue("pidfd_signal", "PIDFD_SIGNAL_PROCESS_GROUP");

/**
 * The target of a call that signals, from its arguments; undefined for calls that send no signal, or do not
 * name a target.
 */
export function signalTarget(name: string, int: (i: number) => number): SignalTarget | undefined {
  switch (name) {
    case "kill":
    case "rt_sigqueueinfo":
      return asKill(int(0));
    case "tgkill":
    case "rt_tgsigqueueinfo":
    case "pidfd_open": // later signals go to the process that has this pid now
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

/** kill(2): a process, the caller's group, all processes, or the group with that number. */
function asKill(number: number): SignalTarget {
  if (number > 0) return { process: number };
  return number === -1 ? { all: true } : { group: -number };
}

interface Caller {
  readonly tid: number;
  readonly pid: number;
  readonly parentPid: number;
}

type IsOfRun = (pid: number) => boolean;

/** What /proc says of a process: its pid in each pid namespace from ours inwards, and those of its group. */
interface Entry {
  readonly pid: number;
  readonly numbers: readonly number[];
  readonly groups: readonly number[];
}

/**
 * The processes that a signal reaches, as the kernel would find them now. A target that cannot be found is
 * reported as unknown: it may be created before the signal is sent.
 */
export function receiversOf(meant: SignalTarget, caller: Caller, isOfRun: IsOfRun): readonly Receiver[] {
  const own = entryOf(caller.tid);
  if (!own) return [UNKNOWN_RECEIVER];
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
  return found.length > 0 ? found.map(describe) : [UNKNOWN_RECEIVER];
}

export const UNKNOWN_RECEIVER: Receiver = { pid: undefined, is: [] };

function entriesFor(meant: SignalTarget, own: Entry, caller: Caller, isOfRun: IsOfRun): readonly Entry[] {
  if ("pidfd" in meant) return behind(meant, caller);
  /** The index of the caller's namespace in the lists of numbers. */
  const depth = own.numbers.length - 1;
  const others = () => (depth === 0 ? everyone() : everyone().filter(sharesNumbers(caller, isOfRun)));
  if ("all" in meant)
    return others().filter(
      ({ numbers, pid }) => (numbers[depth] ?? 0) > 1 && pid !== caller.pid && !isHermesProcess(pid),
    );
  if ("group" in meant) {
    // A process group spans namespaces: a program in its own namespace may share a group with processes
    // outside.
    const leaders =
      meant.group === 0 ? [own] : others().filter(({ groups }) => groups[depth] === meant.group);
    const numbers = new Set(leaders.map(({ groups }) => groups[0]));
    return everyone().filter(({ pid, groups }) => numbers.has(groups[0]) && !isHermesProcess(pid));
  }
  const number = "process" in meant ? meant.process : meant.thread;
  if (depth === 0) return [entryOf(number)].filter((entry) => entry !== undefined);
  if (number === own.numbers[depth]) return [own];
  const isThread = "thread" in meant;
  return others().filter(
    ({ pid, numbers }) => numbers[depth] === number || (isThread && hasThread(pid, depth, number)),
  );
}

/**
 * Other namespaces use the same numbers for other processes. Only processes of this run, or of the caller's
 * own namespace, count.
 */
function sharesNumbers(caller: Caller, isOfRun: IsOfRun): (entry: Entry) => boolean {
  const namespace = readLink(`/proc/${caller.tid}/ns/pid`);
  return ({ pid }) => isOfRun(pid) || (namespace !== "" && readLink(`/proc/${pid}/ns/pid`) === namespace);
}

/** fdinfo of a pidfd names its process in the reader's numbers: ours. A folder of /proc serves as well. */
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

/** For a thread: its process. */
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
