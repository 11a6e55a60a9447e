import { existsSync } from "node:fs";
import { syscallByName } from "../abi/index.js";
import { type CallEvent, isNameless } from "../event.js";
import { holds } from "../policy/constant-test.js";
import { DEEDS, deedsOf, ON_ONE_FILE, UNSETTLED } from "../policy/deeds.js";
import type { Deed } from "../policy/effects.js";
import { flagBits, subjectsOf } from "../policy/match/subject.js";
import type { ConstantRule, ConstantTest, Interest, Policy, Settling } from "../policy/policy.js";
import { isBroker, isOurProcess } from "../process/ours.js";
import { isBelow, processes, readStat, readText } from "../process/proc.js";
import { sharesDescriptors } from "../process/sharing.js";
import { type Action, deny, emulate, type Verdict } from "../verdict.js";
import { CGROUP_FILES, cgroupIsOurUsers, controlsOurCgroup } from "./cgroup-defence.js";
import { MOUNTS, mountsFuse, NO_FUSE, opensFuse } from "./fuse-defence.js";
import { isTerminalOfOthers, TERMINALS } from "./terminals.js";

/**
 * What no policy can permit: a program that reaches for those who watch over it. This is a policy like any other,
 * asked together with the user's and as strict as it gets; here is all that it says.
 *
 * The protected are this process, all its threads, and its children (the launchers); their folders in /proc; and the
 * files that the session was told to keep (kept.ts): policies, which take effect when they are saved, with every link that
 * leads to them; answers for always, the configuration, the records, the trace; and terminals that people outside of the
 * session look at, where HERMES may ask them something. Calls on other processes are stopped only
 * where they could be meant for us, and files only where they are opened for writing: what programs do all day is not
 * slowed down.
 */

const REASON = "It concerns HERMES itself.";
const REFUSAL: Verdict = { ...deny(REASON, "EPERM"), rule: "self-defence" };
const SIGKILL = 9n;
const SIGSTOP = 19n;
const PR_SCHED_CORE = 62;
const PIDFD_SIGNAL_PROCESS_GROUP = 4;
const CAP_SYS_PTRACE = 19n;

const eq = (arg: number, value: bigint | number): ConstantTest => ({
  arg,
  width: 32,
  op: "eq",
  value: BigInt(value),
});
const ne = (arg: number, value: bigint | number): ConstantTest => ({ ...eq(arg, value), op: "ne" });

/** _IO(0xFF, n): PIDFD_GET_MNT_NAMESPACE and so on. */
const PIDFD_GET_NAMESPACE: ConstantTest = {
  arg: 1,
  width: 32,
  op: "masked",
  mask: 0xffffff00n,
  value: 0xff00n,
};

/** Refused in the kernel's filter: nobody needs them, and they cannot be decided on safely. */
const NEVER: readonly { call: string; tests: readonly ConstantTest[]; errno: number; why: string }[] = [
  {
    call: "seccomp",
    tests: [eq(0, 1), { arg: 1, width: 64, op: "masked", mask: 8n, value: 8n }],
    errno: 16, // EBUSY: as if there were one already
    why: "A listener of the program's own outranks the trace door.",
  },
  { call: "userfaultfd", tests: [], errno: 1, why: "A page that never comes stops whoever reads it." },
  { call: "ioctl", tests: [eq(1, 0xaa00)], errno: 1, why: "USERFAULTFD_IOC_NEW, as userfaultfd." },
  { call: "ioctl", tests: [eq(1, 0x8901)], errno: 1, why: "FIOSETOWN names in memory who gets a signal." },
  { call: "ioctl", tests: [eq(1, 0x8902)], errno: 1, why: "SIOCSPGRP, as FIOSETOWN." },
  { call: "fcntl", tests: [eq(1, 15)], errno: 1, why: "F_SETOWN_EX, as FIOSETOWN." },
  {
    call: "ioctl",
    tests: [PIDFD_GET_NAMESPACE],
    errno: 25, // ENOTTY, as before Linux 6.11
    why: "A pidfd, however it was got, gives the namespaces of its process.",
  },
];

/**
 * Whom a call is meant for. Numbers are those of processes or threads, the caller's own where not `ours`; a group is all of
 * its members.
 */
type Meant =
  | { readonly process: number; readonly ours?: true }
  | { readonly group: number }
  | { readonly all: true };

interface Act {
  readonly calls: string;
  /** Only these are stopped; every one when absent. */
  readonly when?: readonly (readonly ConstantTest[])[];
  readonly meant: (event: CallEvent) => readonly Meant[];
}

const int = (event: CallEvent, i: number) => Number(BigInt.asIntN(32, event.argument(i)));
const process_ = (i: number) => (event: CallEvent) => [{ process: int(event, i) }];
/** kill(2): a process, our own group, all, or the group of that number. */
function asKill(event: CallEvent, number: number): readonly Meant[] {
  if (number > 0) return [{ process: number }];
  if (number === -1) return [{ all: true }];
  return [{ group: number === 0 ? groupOf(event.tid) : -number }];
}
/** setpriority(2), ioprio_set(2): `first` is what they call a process; groups and users follow. */
function asPriority(event: CallEvent, first: number): readonly Meant[] {
  const who = int(event, 1);
  const kind = int(event, 0) - first;
  if (kind === 0) return [{ process: who }];
  return kind === 1 ? [{ group: who === 0 ? groupOf(event.tid) : who }] : [{ all: true }];
}

/**
 * The launcher blocks every signal that can be blocked, and its number is not known when the filter is made. For kill(2)
 * the number of any thread stands for its process, and threads come and go: only signal 0, which does nothing, passes.
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
  { calls: "ptrace", when: [[eq(0, 16)], [eq(0, 0x4206)]], meant: process_(1) },
  { calls: "perf_event_open", meant: process_(1) },
  { calls: "kcmp", meant: (event) => [{ process: int(event, 0) }, { process: int(event, 1) }] },
  {
    calls: "fcntl",
    when: [[eq(1, 8)]],
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
 * Where answers to opens stand, a program shares a CPU with us for a moment (native/place.c). It is to see, and to set,
 * what is its own: at every call of these it no longer does.
 */
const ON_CPUS: readonly Act[] = [
  { calls: "sched_setaffinity", meant: process_(0) },
  { calls: "sched_getaffinity", meant: () => [] },
];

/**
 * A pidfd is judged by the process behind it, however it was got: as the peer of a socket, with a message, by a file
 * handle, from fanotify. A folder of /proc is as good as one. Whoever is unknown may be us.
 */
function behind(event: CallEvent): readonly Meant[] {
  const number = event.fd?.kind === "closed" ? 0 : event.fd?.process;
  if (number === undefined) return [{ all: true }];
  return number <= 0 ? [] : [{ process: number, ours: true }];
}

/** A flag means the group that the process leads. */
function signalledBehind(event: CallEvent): readonly Meant[] {
  const meant =
    sharesDescriptors(event.tid) && !reachesBehind(event) ? [{ all: true } as const] : behind(event);
  if ((int(event, 3) & PIDFD_SIGNAL_PROCESS_GROUP) === 0) return meant;
  return [...meant, ...meant.flatMap((whom) => ("process" in whom ? [{ group: whom.process }] : []))];
}

/**
 * Where descriptors are shared, we send the signal, on a copy (doors/act.ts), and see more processes than a caller in a pid
 * namespace of its own: it reaches none outside of that, and we none whose numbers we do not know.
 */
function reachesBehind({ fd, tid }: CallEvent): boolean {
  const number = fd?.process ?? 0;
  if (number === -1) return false;
  return (
    number === 0 || sharesNumbers(tid) || (isBelow(number, process.pid) && depthOf(number) >= depthOf(tid))
  );
}

/**
 * These are made by the program, on whatever has the number by then. To us they can be done only by whoever may trace any
 * process; of those, one whose threads share descriptors could exchange it after it was looked at.
 */
function behindForPrivileged(event: CallEvent): readonly Meant[] {
  return mayTraceAny(event.tid) && sharesDescriptors(event.tid) ? [{ all: true }] : behind(event);
}

/** Most have a file of a namespace here. Our namespaces are those of our pidfd, and nothing that needs keeping. */
function behindIfKnown(event: CallEvent): readonly Meant[] {
  return event.fd?.process === undefined ? [] : behind(event);
}

/** What anybody may read of another process, and what `ps` shows. */
const HARMLESS = new Set(["", "stat", "statm", "status", "cmdline", "comm", "cgroup", "limits", "wchan"]);
const O_ACCMODE_OR_MAKING = [0x1, 0x2, 0x40, 0x200, 0x400000];
const KILL = syscallByName("kill")!.nr;
const OPENAT = syscallByName("openat")!.nr;

export interface Charge {
  /** Names that the program must not change, as real paths: keptFiles(). */
  readonly files: readonly string[];
  /** Those who decide besides: what they have stopped is looked at here too. */
  readonly policies: readonly Policy[];
  /** The filter outlasts us: whoever takes over from us has another number, so calls are stopped whatever the number. */
  readonly lasting?: boolean;
}

/** Makes the policy. `isRoot`: the kernel itself keeps others from writing to our files in /proc. */
export function selfDefence({ files, policies, lasting }: Charge, isRoot = process.getuid?.() === 0): Policy {
  const meantBy = new Map<number, Act["meant"]>();
  const calls = new Map<number, Interest>();
  const opensStand = policies.some((policy) => policy.settles?.(OPENAT) !== undefined);
  for (const act of opensStand ? [...ACTS, ...ON_CPUS] : ACTS)
    for (const name of act.calls.split(" ")) {
      const { nr } = syscallByName(name)!;
      meantBy.set(nr, act.meant);
      calls.set(nr, interest(nr, lasting && namesUs(act.when) ? undefined : act.when));
    }
  if (isRoot || files.length > 0 || cgroupIsOurUsers())
    for (const deed of DEEDS) {
      const { nr } = deed.call;
      if (changesFile(deed)) calls.set(nr, interest(nr, whenWriting(deed)));
    }
  for (const nr of MOUNTS) calls.set(nr, interest(nr, undefined));
  const kept = new Set(files);
  const isSeen = (nr: number) => policies.some(({ subscription }) => subscription.calls.has(nr));
  const isMeant = ({ when }: Interest, event: CallEvent) =>
    !when || when.some((tests) => tests.every((test) => holds(test, event.argument(test.arg))));
  return {
    name: "hermes",
    version: "built-in",
    builtIn: true,
    subscription: { calls, constants: NEVER.map(constantRule) },
    decide(event) {
      const meant = meantBy.get(event.nr);
      if (meant) return onProcesses(event, meant(event));
      if (mountsFuse(event)) return NO_FUSE;
      if (!isSeen(event.nr) && !isMeant(calls.get(event.nr)!, event)) return undefined;
      if (opensFuse(event)) return NO_FUSE;
      return touches(event, kept) ? REFUSAL : undefined;
    },
    decideReturn: () => undefined,
    settles: (nr) => (meantBy.has(nr) ? undefined : settlingOf(nr, files)),
  };
}

/** What is ours is never settled; the rest of the files is the same to us. */
function settlingOf(nr: number, files: readonly string[]): Settling | undefined {
  if (!deedsOf(nr).every(({ call }) => ON_ONE_FILE.has(call.name))) return undefined;
  const literal = (path: string) => path.replace(/[\\*?[\]{}]/g, "\\$&");
  const own = files.flatMap((file) => [literal(file), `${literal(file)}.*`]);
  return { patterns: [], except: [...UNSETTLED, ...CGROUP_FILES, ...TERMINALS, ...own] };
}

function namesUs(when: Act["when"]): boolean {
  return when?.flat().some(({ value }) => value === BigInt(process.pid)) === true;
}

function interest(nr: number, when: Act["when"]): Interest {
  const actions: ReadonlySet<Action> = new Set<Action>(nr === KILL ? ["deny", "emulate"] : ["deny"]);
  return { entry: true, returns: false, actions, ...(when && { when }) };
}

function constantRule({ call, tests, errno, why }: (typeof NEVER)[number]): ConstantRule {
  const { nr } = syscallByName(call)!;
  return { id: "self-defence", nr, tests, action: "deny", errno, reason: why };
}

// ---------------------------------------------------------------- processes

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

/** A process of ours, a thread of it, or the init that a broker has in a pid namespace. */
function isProtected(number: number): boolean {
  if (isOurProcess(number) || existsSync(`/proc/${process.pid}/task/${number}`)) return true;
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

/** In a namespace of its own a process has other numbers for others, and none for us. */
function sharesNumbers(tid: number): boolean {
  return depthOf(tid) <= 1;
}

/** In how many pid namespaces it has a number, from ours on. */
function depthOf(tid: number): number {
  return /^NSpid:\t(.*)$/m.exec(readText(`/proc/${tid}/status`))?.[1]?.split("\t").length ?? 0;
}

/** A signal for the group that we are in: all the others get it, from us, if the caller may send it to them. */
function signalOthers(event: CallEvent, group: number): Verdict {
  const signal = int(event, 1);
  const { uid } = event.process;
  let reached = 0;
  for (const pid of processes()) {
    if (readStat(pid)?.group !== group || isProtected(pid) || !maySignal(uid, pid)) continue;
    reached += send(pid, signal) ? 1 : 0;
  }
  return reached > 0 ? { ...emulate(0), rule: "self-defence", reason: REASON } : REFUSAL;
}

function send(pid: number, signal: number): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** kill(2): the caller's user is the target's real or saved one, or root. */
function maySignal(uid: number, pid: number): boolean {
  const [, real, , saved] = /^Uid:\t(\d+)\t(\d+)\t(\d+)/m.exec(readText(`/proc/${pid}/status`)) ?? [];
  return uid === 0 || Number(real) === uid || Number(saved) === uid;
}

function groupOf(pid: number): number {
  return readStat(pid)?.group ?? 0;
}

// ---------------------------------------------------------------- files

/** By name; by a handle, which might be that of any file; or through a mount that shows folders that only it knows. */
function changesFile(deed: Deed): boolean {
  const { call, does, on } = deed;
  if (!does.includes("write")) return false;
  return (
    on.kind === "path" ||
    on.kind === "socket-file" ||
    call.name === "open_by_handle_at" ||
    mountsUnknown(deed)
  );
}

function mountsUnknown({ does, on }: Deed): boolean {
  return on.kind === "unknown-file" && does.includes("mount");
}

/** Of the calls that open by flags in a register, only those that could write. */
function whenWriting({ call }: Deed): Act["when"] {
  const flags = call.args.findIndex(({ name, kind }) => name === "flags" && kind === "flags");
  if (!["open", "openat", "open_by_handle_at"].includes(call.name)) return undefined;
  return O_ACCMODE_OR_MAKING.map((bit) => [
    { arg: flags, width: 32, op: "masked", mask: BigInt(bit), value: BigInt(bit) },
  ]);
}

/** The kernel itself refuses to rename or remove what is named by its dots, with an error of its own. */
const BY_DOTS = /(^|\/)\.\.?\/*$/;
const CHANGES_NAME = new Set(["rename", "renameat", "renameat2", "rmdir", "unlink", "unlinkat"]);

function touches(event: CallEvent, files: ReadonlySet<string>): boolean {
  if (CHANGES_NAME.has(event.name) && event.paths.some(({ requested }) => BY_DOTS.test(requested)))
    return false;
  const bits = flagBits(syscallByName(event.name)!, event);
  for (const deed of deedsOf(event.nr)) {
    const writes = deed.does.includes("write");
    if (!writes && !deed.does.includes("read")) continue;
    if (deed.holds && !deed.holds(bits, event)) continue;
    // A link in the place of a folder leads to other files, as a folder that is moved there does.
    const leads = deed.does.includes("link");
    for (const { path, subtree } of subjectsOf(deed, event)) {
      if (
        path === null
          ? writes && mayChangeOurs(deed, files) && !event.paths.some((found) => isNameless(found.path))
          : path !== undefined &&
            (isOurs(path, writes, subtree || leads, files) || (writes && isTerminalOfOthers(path, event)))
      )
        return true;
    }
  }
  return false;
}

/** The call changes some file, and cannot say which. */
function mayChangeOurs(deed: Deed, files: ReadonlySet<string>): boolean {
  return mountsUnknown(deed) ? files.size > 0 : changesFile(deed);
}

/** A trace may be in parts; drafts and locks lie beside what they are for. */
const OUR_SUFFIX = /(?:\.\d+)?(?:\.new|\.lock)?$/;

function isOurs(path: string, writes: boolean, subtree: boolean, files: ReadonlySet<string>): boolean {
  if (path.startsWith("/memfd:hermes-")) return true;
  if (path.startsWith("/proc/")) return isOurProc(path, writes);
  if (!writes) return false;
  if (controlsOurCgroup(path)) return true;
  if (files.has(path) || files.has(path.replace(OUR_SUFFIX, ""))) return true;
  return subtree && [...files].some((file) => file.startsWith(path === "/" ? path : `${path}/`));
}

function isOurProc(path: string, writes: boolean): boolean {
  const [, number, rest = ""] = /^\/proc\/(\d+)(?:\/(?:task\/\d+\/?)?(.*))?$/.exec(path) ?? [];
  if (number === undefined || !isProtected(Number(number))) return false;
  return writes || !HARMLESS.has(rest);
}
