import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { syscallByName } from "../abi/index.js";
import { errnoValue, flagsValue, signalValue } from "../abi/named.js";
import { isBroker, isHermesProcess } from "../kernel/process/hermes-processes.js";
import { isBelow, processes, readStat, readText } from "../kernel/process/proc.js";
import { sharesDescriptors } from "../kernel/process/shared-descriptors.js";
import { type CallEvent, isNameless } from "../nouns/event.js";
import { isAtOrBelow } from "../nouns/path.js";
import { deny, emulate, type Verdict, type VerdictAction } from "../nouns/verdict.js";
import {
  BY_DESCRIPTOR_OR_PATH,
  CALL_EFFECTS,
  callEffects,
  NEVER_CACHED,
  ON_ONE_FILE,
} from "../policy/call-effects.js";
import { constantTestHolds } from "../policy/constant-test.js";
import { WITH_PATH, writingOpens } from "../policy/effect-conditions.js";
import type { CallEffect } from "../policy/effects.js";
import { effectSubjects, flagBits } from "../policy/match/subject.js";
import type { CacheScope, CallSubscription, ConstantTest, Policy } from "../policy/policy.js";
import { ALWAYS_REFUSED, eq, ne } from "./always-refused.js";
import { CGROUP_FILES, cgroupIsOurUsers, controlsOurCgroup } from "./cgroup-defence.js";
import { MOUNTS, mountsFuse, NO_FUSE, opensFuse } from "./fuse-defence.js";
import { isTerminalOfOthers, TERMINALS } from "./terminals.js";

/**
 * What no policy can permit: that a program attacks its supervisor. This is a policy like any other. It
 * decides together with the user's policies, and the strictest verdict wins.
 *
 * It protects this process, all its threads, and its children (the launchers); their folders in /proc; the
 * session's own files (protected-files.ts): policies, which take effect when they are saved, with every link that leads
 * to them, stored approvals, the configuration, the records, the trace; and terminals of users outside the
 * session, where HERMES may ask for approval. Calls on other processes stop only where they could target us,
 * and files only where they are opened for writing, so that ordinary work is not slowed down. Files do not stop at all
 * where the fence holds them (`confinedTo`), and where there is nothing to get around (`isFree`).
 */

const REASON = "It concerns HERMES itself.";
const REFUSAL: Verdict = { ...deny(REASON, "EPERM"), rule: "self-defence" };
const EPERM = errnoValue("EPERM");
const SIGKILL = signalValue("SIGKILL");
const SIGSTOP = signalValue("SIGSTOP");
const PR_SCHED_CORE = flagsValue("prctl", "PR_SCHED_CORE");
const PIDFD_SIGNAL_PROCESS_GROUP = flagsValue("pidfd_signal", "PIDFD_SIGNAL_PROCESS_GROUP");
const PTRACE_ATTACH = flagsValue("ptrace", "PTRACE_ATTACH");
const PTRACE_SEIZE = flagsValue("ptrace", "PTRACE_SEIZE");
const F_SETOWN = flagsValue("fcntl", "F_SETOWN");
const CAP_SYS_PTRACE = 19n;

/**
 * The target of a call. Numbers are those of processes or threads, in the caller's view unless `ours`; a
 * group means all its members.
 */
type Meant =
  | { readonly process: number; readonly ours?: true }
  | { readonly group: number }
  | { readonly all: true };

interface Act {
  readonly calls: string;
  /** Stop only these cases; all when absent. */
  readonly when?: readonly (readonly ConstantTest[])[];
  readonly meant: (event: CallEvent) => readonly Meant[];
}

const int = (event: CallEvent, i: number) => Number(BigInt.asIntN(32, event.argument(i)));
const process_ = (i: number) => (event: CallEvent) => [{ process: int(event, i) }];
/** kill(2): a process, the caller's group, all processes, or the group with that number. */
function asKill(event: CallEvent, number: number): readonly Meant[] {
  if (number > 0) return [{ process: number }];
  if (number === -1) return [{ all: true }];
  return [{ group: number === 0 ? groupOf(event.tid) : -number }];
}
/**
 * setpriority(2), ioprio_set(2): `first` is their constant for a process; those for groups and users follow.
 */
function asPriority(event: CallEvent, first: number): readonly Meant[] {
  const who = int(event, 1);
  const kind = int(event, 0) - first;
  if (kind === 0) return [{ process: who }];
  return kind === 1 ? [{ group: who === 0 ? groupOf(event.tid) : who }] : [{ all: true }];
}

/**
 * The launcher blocks every signal that can be blocked, and its pid is not known when the filter is made. For
 * kill(2) any thread's tid stands for its process, and threads come and go. So only signal 0, which has no
 * effect, passes.
 */
const ACTS: readonly Act[] = [
  { calls: "kill", when: [[ne(1, 0)]], meant: (event) => asKill(event, int(event, 0)) },
  {
    calls: "tgkill",
    when: [[eq(0, process.pid)], [eq(2, SIGKILL)], [eq(2, SIGSTOP)]],
    meant: process_(0),
  },
  { calls: "tkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open", meant: process_(0) },
  { calls: "process_vm_readv process_vm_writev", meant: process_(0) },
  {
    calls:
      "prlimit64 sched_setscheduler sched_setparam sched_setattr sched_setaffinity migrate_pages move_pages",
    when: [[ne(0, 0)]],
    meant: process_(0),
  },
  { calls: "setpriority", when: [[ne(0, 0)], [ne(1, 0)]], meant: (event) => asPriority(event, 0) },
  { calls: "ioprio_set", when: [[ne(0, 1)], [ne(1, 0)]], meant: (event) => asPriority(event, 1) },
  { calls: "ptrace", when: [[eq(0, PTRACE_ATTACH)], [eq(0, PTRACE_SEIZE)]], meant: process_(1) },
  { calls: "perf_event_open", meant: process_(1) },
  { calls: "kcmp", meant: (event) => [{ process: int(event, 0) }, { process: int(event, 1) }] },
  {
    calls: "fcntl",
    when: [[eq(1, F_SETOWN)]],
    meant: (event) => (int(event, 1) !== 8 || int(event, 2) === 0 ? [] : asKill(event, int(event, 2))),
  },
  { calls: "pidfd_send_signal", meant: signalledBehind },
  { calls: "pidfd_getfd process_madvise process_mrelease", meant: behindForPrivileged },
  { calls: "setns", meant: behindIfKnown },
  {
    calls: "prctl",
    when: [[eq(0, PR_SCHED_CORE)]],
    meant: (event) => (int(event, 0) === PR_SCHED_CORE ? [{ process: int(event, 2) }] : []),
  },
];

/**
 * With a verdict cache, a program briefly shares a CPU with us (native/fastpath/cpu-affinity.c). A program must see and set
 * its own affinity: the sharing ends at each of these calls.
 */
const ON_CPUS: readonly Act[] = [
  { calls: "sched_setaffinity", meant: process_(0) },
  { calls: "sched_getaffinity", meant: () => [] },
];

/**
 * A pidfd is judged by its process, wherever it came from: a socket's peer, a message, a file handle,
 * fanotify. A folder of /proc serves as one. An unknown process may be ours.
 */
function behind(event: CallEvent): readonly Meant[] {
  const number = event.fd?.kind === "closed" ? 0 : event.fd?.process;
  if (number === undefined) return [{ all: true }];
  return number <= 0 ? [] : [{ process: number, ours: true }];
}

/** A flag targets the group that the process leads. */
function signalledBehind(event: CallEvent): readonly Meant[] {
  const meant =
    sharesDescriptors(event.tid) && !reachesBehind(event) ? [{ all: true } as const] : behind(event);
  if ((int(event, 3) & PIDFD_SIGNAL_PROCESS_GROUP) === 0) return meant;
  return [...meant, ...meant.flatMap((whom) => ("process" in whom ? [{ group: whom.process }] : []))];
}

/**
 * If descriptors are shared, we send the signal on behalf, on a copy (kernel/doors/on-behalf.ts). We see more processes
 * than a caller in its own pid namespace. That caller reaches none outside, and we reach none whose numbers
 * we do not know.
 */
function reachesBehind({ fd, tid }: CallEvent): boolean {
  const number = fd?.process ?? 0;
  if (number === -1) return false;
  return (
    number === 0 || sharesNumbers(tid) || (isBelow(number, process.pid) && depthOf(number) >= depthOf(tid))
  );
}

/**
 * The program makes these calls itself, on the process that has the number by then. Only a process that may
 * trace any process can do them to us. If its threads share descriptors, it could exchange the descriptor
 * after the check.
 */
function behindForPrivileged(event: CallEvent): readonly Meant[] {
  return mayTraceAny(event.tid) && sharesDescriptors(event.tid) ? [{ all: true }] : behind(event);
}

/**
 * Most descriptors here are namespace files. Our namespaces are reachable only by our pidfd, and need no
 * protection.
 */
function behindIfKnown(event: CallEvent): readonly Meant[] {
  return event.fd?.process === undefined ? [] : behind(event);
}

/** Files that any process may read of another, as `ps` does. */
const HARMLESS = new Set(["", "stat", "statm", "status", "cmdline", "comm", "cgroup", "limits", "wchan"]);
const KILL = syscallByName("kill")!.nr;
const OPENAT = syscallByName("openat")!.nr;

interface SelfDefenceOptions {
  /** Names that the program must not change, as real paths: protectedNames(). */
  readonly files: readonly string[];
  /** The other policies: calls that they stop are checked here too. */
  readonly policies: readonly Policy[];
  /** Of the files, those that are defended only where calls stop for others. */
  readonly notWorthStops?: readonly string[];
  /** Nothing but HERMES's own files needs a stop: the run has neither a policy nor a strict fence to get around. */
  readonly isFree?: boolean;
  /** Folders outside of which the fence lets the program change nothing: what lies there needs no stop. */
  readonly confinedTo?: readonly string[] | undefined;
  /**
   * The filter outlives us, and a later supervisor has another pid. So the filter stops calls regardless of
   * the pid.
   */
  readonly lasting?: boolean;
}

/**
 * Creates the policy. With `isRoot` false, the kernel itself keeps other users from writing to our files in
 * /proc.
 */
export function selfDefence(
  { files, notWorthStops, policies, isFree, confinedTo, lasting }: SelfDefenceOptions,
  isRoot = process.getuid?.() === 0,
): Policy {
  const isReachable = (file: string) => confinedTo?.some((folder) => isAtOrBelow(file, folder)) ?? true;
  const mustStopWrites = () =>
    files.some((file) => isReachable(file) && !notWorthStops?.includes(file)) ||
    (!isFree && !confinedTo && (isRoot || cgroupIsOurUsers()));
  const meantBy = new Map<number, Act["meant"]>();
  const calls = new Map<number, CallSubscription>();
  const opensStand = policies.some((policy) => policy.cacheScope?.(OPENAT) !== undefined);
  for (const act of opensStand ? [...ACTS, ...ON_CPUS] : ACTS)
    for (const name of act.calls.split(" ")) {
      const { nr } = syscallByName(name)!;
      meantBy.set(nr, act.meant);
      calls.set(nr, subscriptionTo(nr, lasting && namesUs(act.when) ? undefined : act.when));
    }
  if (mustStopWrites())
    for (const effect of CALL_EFFECTS) {
      const { nr } = effect.call;
      if (changesFile(effect)) calls.set(nr, subscriptionTo(nr, whenWriting(effect)));
    }
  for (const nr of MOUNTS) calls.set(nr, subscriptionTo(nr, undefined));
  const kept = new Set(files);
  const isSeen = (nr: number) => policies.some(({ subscription }) => subscription.calls.has(nr));
  const isMeant = ({ when }: CallSubscription, event: CallEvent) =>
    !when || when.some((tests) => tests.every((test) => constantTestHolds(test, event.argument(test.arg))));
  return {
    name: "hermes",
    version: "built-in",
    builtIn: true,
    subscription: { calls, constants: ALWAYS_REFUSED },
    decide(event) {
      const meant = meantBy.get(event.nr);
      if (meant && !isSignalZero(event)) return onProcesses(event, meant(event));
      if (meant) return undefined;
      if (mountsFuse(event)) return NO_FUSE;
      if (!isSeen(event.nr) && !isMeant(calls.get(event.nr)!, event)) return undefined;
      if (opensFuse(event)) return NO_FUSE;
      return touches(event, kept) ? REFUSAL : undefined;
    },
    decideReturn: () => undefined,
    cacheScope: (nr) => (meantBy.has(nr) ? undefined : ownCacheScope(nr, files)),
  };
}

/** Our own files are never cached; all other files are alike to this policy. */
function ownCacheScope(nr: number, files: readonly string[]): CacheScope | undefined {
  if (!callEffects(nr).every(({ call }) => ON_ONE_FILE.has(call.name))) return undefined;
  const literal = (path: string) => path.replace(/[\\*?[\]{}]/g, "\\$&");
  const own = files.flatMap((file) => [literal(file), `${literal(file)}.*`, `${literal(file)}/*`]);
  return { patterns: [], except: [...NEVER_CACHED, ...CGROUP_FILES, ...TERMINALS, ...own] };
}

function namesUs(when: Act["when"]): boolean {
  return when?.flat().some(({ value }) => value === BigInt(process.pid)) === true;
}

function subscriptionTo(nr: number, when: Act["when"]): CallSubscription {
  const actions: ReadonlySet<VerdictAction> = new Set<VerdictAction>(
    nr === KILL ? ["deny", "emulate"] : ["deny"],
  );
  return { entry: true, returns: false, actions, ...(when && { when }) };
}

// ---------------------------------------------------------------- processes

/** It has no effect. It stops only where another policy wants it. */
function isSignalZero(event: CallEvent): boolean {
  return event.nr === KILL && int(event, 1) === 0;
}

function onProcesses(event: CallEvent, meant: readonly Meant[]): Verdict | undefined {
  for (const whom of meant) {
    if ("process" in whom) {
      if (isProtected(whom.process) && (whom.ours || sharesNumbers(event.tid))) return REFUSAL;
    } else if ("all" in whom) return REFUSAL;
    else if (protectedGroups().includes(whom.group))
      return event.nr === KILL ? signalOthers(event, whom.group) : REFUSAL;
  }
  return undefined;
}

/** One of our processes, a thread of one, or a broker's init process in a pid namespace. */
function isProtected(number: number): boolean {
  if (isHermesProcess(number) || existsSync(`/proc/${process.pid}/task/${number}`)) return true;
  const above = readStat(number)?.parent;
  return above !== undefined && isBroker(above) && /^NSpid:.*\t1$/m.test(readText(`/proc/${number}/status`));
}

function mayTraceAny(tid: number): boolean {
  const effective = /^CapEff:\t(\w+)$/m.exec(readText(`/proc/${tid}/status`))?.[1];
  return effective === undefined || ((BigInt(`0x${effective}`) >> CAP_SYS_PTRACE) & 1n) === 1n;
}

function protectedGroups(): number[] {
  return [groupOf(process.pid)];
}

/** In its own pid namespace a process uses other numbers, and has none for us. */
function sharesNumbers(tid: number): boolean {
  return depthOf(tid) <= 1;
}

/** In how many pid namespaces it has a number, from ours inwards. */
function depthOf(tid: number): number {
  return /^NSpid:\t(.*)$/m.exec(readText(`/proc/${tid}/status`))?.[1]?.split("\t").length ?? 0;
}

/**
 * A signal for the group that HERMES is in: all other members get it, from us, if the caller may send it to them. It is
 * sent when the verdict is carried out: until then another policy may ask about it.
 */
function signalOthers(event: CallEvent, group: number): Verdict {
  const signal = int(event, 1);
  const { uid } = event.process;
  const members = () =>
    processes().filter((pid) => readStat(pid)?.group === group && !isProtected(pid) && maySignal(uid, pid));
  if (members().length === 0) return REFUSAL;
  const perform = () => (members().filter((pid) => send(pid, signal)).length > 0 ? 0 : -EPERM);
  return { ...emulate(0, { perform }), rule: "self-defence", reason: REASON };
}

function send(pid: number, signal: number): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** kill(2): the caller's uid is the target's real or saved uid, or root. */
function maySignal(uid: number, pid: number): boolean {
  const [, real, , saved] = /^Uid:\t(\d+)\t(\d+)\t(\d+)/m.exec(readText(`/proc/${pid}/status`)) ?? [];
  return uid === 0 || Number(real) === uid || Number(saved) === uid;
}

function groupOf(pid: number): number {
  return readStat(pid)?.group ?? 0;
}

// ---------------------------------------------------------------- files

/**
 * By name; by a file handle, which may be that of any file; or through a mount that only the program can see.
 */
function changesFile(effect: CallEffect): boolean {
  const { call, does, on } = effect;
  if (!does.includes("write")) return false;
  return (
    on.kind === "path" ||
    on.kind === "socket-file" ||
    call.name === "open_by_handle_at" ||
    mountsUnknown(effect)
  );
}

function mountsUnknown({ does, on }: CallEffect): boolean {
  return on.kind === "unknown-file" && does.includes("mount");
}

/** Of the calls with open flags in a register, only those that could write; of the others, those that name a file. */
function whenWriting({ call }: CallEffect): Act["when"] {
  if (BY_DESCRIPTOR_OR_PATH.includes(call.nr)) return WITH_PATH;
  return ["open", "openat", "open_by_handle_at"].includes(call.name) ? writingOpens(call) : undefined;
}

/** The kernel itself refuses to rename or remove a path that ends in `.` or `..`, with its own error. */
const BY_DOTS = /(^|\/)\.\.?\/*$/;
const CHANGES_NAME = new Set(["rename", "renameat", "renameat2", "rmdir", "unlink", "unlinkat"]);

/** The effects by which a call could read or change a file of ours, by its number. */
const ON_CONTENT: ReadonlyMap<number, readonly CallEffect[]> = new Map(
  CALL_EFFECTS.map(({ call: { nr } }) => [
    nr,
    callEffects(nr).filter(({ does }) => does.includes("write") || does.includes("read")),
  ]),
);

function touches(event: CallEvent, files: ReadonlySet<string>): boolean {
  if (CHANGES_NAME.has(event.name) && event.paths.some(({ requested }) => BY_DOTS.test(requested)))
    return false;
  const bits = flagBits(syscallByName(event.name)!, event);
  for (const effect of ON_CONTENT.get(event.nr) ?? []) {
    const writes = effect.does.includes("write");
    if (effect.holds && !effect.holds(bits, event)) continue;
    // A link in place of a folder leads to other files, just as a folder moved there does.
    const leads = effect.does.includes("link");
    for (const { path, subtree } of effectSubjects(effect, event)) {
      if (
        path === null
          ? writes && mayChangeOurs(effect, files) && !event.paths.some((found) => isNameless(found.path))
          : path !== undefined &&
            (isOurs(path, writes, subtree || leads, files) || (writes && isTerminalOfOthers(path, event)))
      )
        return true;
    }
  }
  return false;
}

/** The call changes some file without naming it. */
function mayChangeOurs(effect: CallEffect, files: ReadonlySet<string>): boolean {
  return mountsUnknown(effect) ? files.size > 0 : changesFile(effect);
}

/** A trace may be split in parts; drafts and locks lie beside their file. */
const OUR_SUFFIX = /(?:\.\d+)?(?:\.new|\.lock)?$/;

function isOurs(path: string, writes: boolean, subtree: boolean, files: ReadonlySet<string>): boolean {
  if (path.startsWith("/memfd:hermes-")) return true;
  if (path.startsWith("/proc/")) return isOurProc(path, writes);
  if (!writes) return false;
  if (controlsOurCgroup(path)) return true;
  if (files.has(path) || files.has(path.replace(OUR_SUFFIX, "")) || files.has(dirname(path))) return true;
  return subtree && [...files].some((file) => file.startsWith(path === "/" ? path : `${path}/`));
}

function isOurProc(path: string, writes: boolean): boolean {
  const [, number, rest = ""] = /^\/proc\/(\d+)(?:\/(?:task\/\d+\/?)?(.*))?$/.exec(path) ?? [];
  if (number === undefined || !isProtected(Number(number))) return false;
  return writes || !HARMLESS.has(rest);
}
