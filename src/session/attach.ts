import { errnoName, type Syscall } from "../abi/index.js";
import { type Arrangement, arrange, unseen } from "../doors/arrangement.js";
import { HermesError } from "../errors.js";
import { DOOR, MAX_SYSCALL } from "../kernel/layout.js";
import { ATTACH } from "../kernel/native.js";
import type { Policy } from "../policy/policy.js";
import type { PolicyStack } from "../policy/stack.js";
import { isBelow, readStat, readText } from "../process/proc.js";
import { readTarget, type Target } from "../process/target.js";
import { findKeeper, type Kept, noteOf } from "./keeper.js";
import type { AttachOptions, SessionOptions } from "./options.js";

/** How the calls of a process that runs already come to us. */
export interface Footing {
  readonly arrangement: Arrangement;
  /** What native().attach() is told. */
  readonly flags: number;
  readonly filter: Uint8Array;
  readonly stops: Uint8Array;
  readonly note: Uint8Array;
  readonly keeper: number;
  /** For a person: how, and what it costs. */
  readonly way: string;
}

interface Wanted {
  readonly stack: PolicyStack;
  readonly recorded: readonly Syscall[];
  readonly live: readonly Syscall[];
  readonly options: SessionOptions;
  /** Functions or instructions are of interest. */
  readonly inside: boolean;
}

/** A process that can be attached to. Throws, with the reason, for one that cannot. */
export function attachable(pid: number): Target {
  const target = readTarget(pid);
  if (!target) throw new HermesError("ATTACH_NOT_FOUND", { pid });
  const why = refusal(target);
  if (why !== undefined) throw new HermesError("ATTACH", { pid, why });
  const forbidden = target.closed && whyClosed(target);
  if (forbidden) throw new HermesError("ATTACH_FORBIDDEN", { pid, why: forbidden });
  return target;
}

const OWN_CHILD =
  "it is a child of this process, and Node itself waits for its end; attach from another process: hermes attach";

function refusal({
  pid,
  process: leader,
  state,
  isKernelThread,
  is32Bit,
  tracer,
}: Target): string | undefined {
  if (pid === process.pid || leader === process.pid) return "it is HERMES itself";
  if (isKernelThread) return "it is a thread of the kernel, not a program";
  if (leader !== pid) return `it is a thread; attach to its process: hermes attach ${leader}`;
  if (readStat(pid)?.parent === process.pid) return OWN_CHILD;
  if (state === "Z" || state === "X") return "it has ended; its parent has not yet taken notice";
  if (isBelow(process.pid, pid)) return "HERMES was started below it, and it would wait for itself";
  if (tracer !== 0) return `process ${tracer} (${nameOf(tracer)}) traces it already`;
  if (is32Bit) return "it is a 32-bit program; HERMES knows the calls of 64-bit programs";
  return undefined;
}

function whyClosed({ users, closed }: Target): string {
  const us = process.getuid!();
  if (us !== 0 && users.some((user) => user !== us))
    return `it belongs to another user (${[...new Set(users)].join(", ")}); try as root`;
  const scope = readText("/proc/sys/kernel/yama/ptrace_scope").trim();
  if (scope !== "" && scope !== "0")
    return `the kernel lets only ${scope === "1" ? "parents trace their children, and administrators" : scope === "2" ? "administrators trace" : "nobody trace"} (kernel.yama.ptrace_scope is ${scope})${scope === "3" ? "" : "; try as root"}`;
  return `the kernel does not let us look into it (${closed}): it has other privileges than we have, or asked for that (PR_SET_DUMPABLE); try as root`;
}

function nameOf(pid: number): string {
  return readText(`/proc/${pid}/comm`).trim() || "unknown";
}

/** Policies of an attached session also refuse what would pass by them unseen: its filter does not (see `arrange`). */
export function withUnseen(
  policies: readonly Policy[],
  live: readonly Syscall[],
  stack: PolicyStack,
): Policy[] {
  const constants = unseen({ stack, live });
  if (constants.length === 0) return [...policies];
  const refusing: Policy = {
    name: "hermes",
    version: "built-in",
    builtIn: true,
    subscription: { calls: new Map(), constants },
    decide: () => undefined,
    decideReturn: () => undefined,
  };
  return [...policies, refusing];
}

/**
 * The cheapest way to all that is wanted. A filter, if the process may have one and the notify door can serve; where
 * execs are judged, its threads stay traced too. Else every call stops.
 */
export function footing(target: Target, wanted: Wanted): Footing {
  const { stack, recorded, live, options, inside } = wanted;
  const attach = options.attach!;
  const wishes = { stack, recorded, live, attached: true };
  // A filter stays in the process for good: only for somebody who decides by it.
  const hasPolicy = live.length > 0 || attach.filter || stack.policies.some((policy) => !policy.builtIn);
  const whyTrace =
    options.door === "trace"
      ? "as asked for (--door trace)"
      : options.door === "auto" && !hasPolicy
        ? "there is no policy, and a filter would stay"
        : undefined;
  const auto = arrange({ ...wishes, door: options.door });
  const why =
    whyTrace ??
    (auto.doors & (1 << DOOR.trace)
      ? "returns or changes are wanted, which a filter cannot serve"
      : undefined);
  if (why === undefined && !inside) {
    const kept = findKeeper(target);
    const no = kept ? kept.lacks(auto) : whyNoFilter(target, attach);
    if (no === undefined) return byFilter(target, auto, wanted, kept);
    if (options.door === "notify") throw new HermesError("ATTACH_FILTER", { pid: target.pid, why: no });
    return byEveryCall(arrange({ ...wishes, door: "trace" }), no);
  }
  if (inside && options.door === "notify")
    throw new HermesError("UNAVAILABLE", {
      what: "functions or instructions",
      why: "the notify door does not see them",
    });
  const all = byEveryCall(
    arrange({ ...wishes, door: "trace" }),
    why ?? "what happens inside of it is watched",
  );
  return inside ? { ...all, flags: all.flags | ATTACH.firstReturn } : all;
}

function whyNoFilter(
  { noNewPrivs, isAdministrator, seccomp }: Target,
  { filter }: AttachOptions,
): string | undefined {
  if (seccomp === 1) return "it is in strict mode of seccomp";
  if (filter) return undefined;
  if (seccomp === 2)
    return "it has a filter of its own, and what that does with a call of ours is not known (--filter tries)";
  if (!noNewPrivs && !isAdministrator)
    return "it would have to give up new privileges for good, as for setuid programs (--filter does that)";
  return undefined;
}

function byFilter(target: Target, arrangement: Arrangement, wanted: Wanted, kept: Kept | undefined): Footing {
  const judgesExecs = wanted.stack.wantsEntry(EXECVE) && !wanted.stack.isBuiltIn(EXECVE);
  const setsPrivileges = !kept && !target.noNewPrivs && !target.isAdministrator;
  const doors = arrangement.doors | (1 << DOOR.notify) | (judgesExecs ? 1 << DOOR.trace : 0);
  return {
    arrangement: { ...arrangement, doors },
    flags: (judgesExecs ? ATTACH.stay : 0) | (setsPrivileges ? ATTACH.noNewPrivs : 0),
    filter: arrangement.filter,
    stops: new Uint8Array(MAX_SYSCALL / 8),
    note: kept?.note ?? noteOf(target, arrangement),
    keeper: kept?.keeper ?? 0,
    way: `attached by a filter${kept ? " that was there already" : ""}: calls that nobody wants to see run as before; the filter stays when HERMES leaves, and a keeper lets all pass`,
  };
}

function byEveryCall(arrangement: Arrangement, why: string): Footing {
  const stops = new Uint8Array(MAX_SYSCALL / 8);
  for (const nr of arrangement.doorOf.keys()) if (nr < MAX_SYSCALL) stops[nr >> 3]! |= 1 << (nr & 7);
  return {
    arrangement: { ...arrangement, doors: 1 << DOOR.trace, program: [], filter: new Uint8Array() },
    flags: ATTACH.stay | ATTACH.everyCall,
    filter: new Uint8Array(),
    stops,
    note: new Uint8Array(),
    keeper: 0,
    way: `attached without a filter: every call stops, which slows it down, and paths that are opened are judged by name (${why})`,
  };
}

const EXECVE = 59;
const FILTER_STEPS = new Set([3, 4, 5, 6, 7, 10]);

/** In the order of enum attach_step in native/attach.h. */
const STEPS = [
  "",
  "tracing it",
  "stopping its threads",
  "finding a system call instruction in it",
  "a little memory in it",
  "giving up new privileges in it",
  "installing the filter in it",
  "taking the filter's listener",
  "starting the keeper",
  "taking over from the keeper",
  "a call in it, since it handles its calls itself (syscall user dispatch):",
];
const WHY: Readonly<Record<string, string>> = {
  EPERM: "the kernel forbids it",
  ESRCH: "it ended meanwhile, or its threads have different filters",
  ETIMEDOUT: "it did not stop: it waits for a device, or for a child after vfork",
  EBUSY: "there is a listener already",
  EACCES: "it has no right to a filter",
};

/** What native().attach() said, in words. */
export function attachError(pid: number, result: number): HermesError {
  const step = -result >> 12;
  const errno = errnoName(-result & 4095) ?? String(-result & 4095);
  const why = `${STEPS[step] ?? "a step"} failed: ${errno}${WHY[errno] ? ` (${WHY[errno]})` : ""}`;
  if (step === 1 && errno === "EPERM") return new HermesError("ATTACH_FORBIDDEN", { pid, why });
  return new HermesError(FILTER_STEPS.has(step) ? "ATTACH_FILTER" : "ATTACH", { pid, why });
}
