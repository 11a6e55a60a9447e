import { errnoName, type Syscall } from "../abi/index.js";
import { callNumber } from "../abi/named.js";
import { DOOR, MAX_SYSCALL } from "../kernel/binding/layout.js";
import { ATTACH } from "../kernel/binding/native.js";
import { type DoorPlan, planDoors, unseenRules } from "../kernel/doors/door-plan.js";
import { type AttachTarget, readTarget } from "../kernel/process/attach-target.js";
import { isBelow, readStat, readText } from "../kernel/process/proc.js";
import { HermesError } from "../nouns/errors.js";
import type { Policy } from "../policy/policy.js";
import type { PolicyStack } from "../policy/stack.js";
import { findKeeper, type KeptFilter, noteOf } from "./keeper.js";
import type { SessionAttachOptions, SessionOptions } from "./options.js";

/** How the calls of a running process reach us. */
export interface AttachMode {
  readonly doorPlan: DoorPlan;
  /** Flags for native().attach(). */
  readonly flags: number;
  readonly filter: Uint8Array;
  readonly stops: Uint8Array;
  readonly note: Uint8Array;
  readonly keeper: number;
  /** For the user: the mechanism, and its cost. */
  readonly way: string;
}

interface Wanted {
  readonly stack: PolicyStack;
  readonly recorded: readonly Syscall[];
  readonly live: readonly Syscall[];
  readonly options: SessionOptions;
  /** A policy watches functions or instructions. */
  readonly inside: boolean;
}

/** Checks that a process can be attached to. Throws with the reason if not. */
export function attachable(pid: number): AttachTarget {
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
}: AttachTarget): string | undefined {
  if (pid === process.pid || leader === process.pid) return "it is HERMES itself";
  if (isKernelThread) return "it is a thread of the kernel, not a program";
  if (leader !== pid) return `it is a thread; attach to its process: hermes attach ${leader}`;
  if (readStat(pid)?.parent === process.pid) return OWN_CHILD;
  if (state === "Z" || state === "X") return "it has ended, and its parent has not collected it yet (zombie)";
  if (isBelow(process.pid, pid)) return "HERMES is one of its descendants, and would deadlock";
  if (tracer !== 0) return `process ${tracer} (${nameOf(tracer)}) traces it already`;
  if (is32Bit) return "it is a 32-bit program; HERMES supports 64-bit programs only";
  return undefined;
}

const PTRACE_SCOPE: Readonly<Record<string, string>> = {
  1: "the kernel lets a process trace only its own children; try as root",
  2: "the kernel lets only administrators trace; try as root",
  3: "the kernel lets no process trace another until the next boot",
};

function whyClosed({ users, closed }: AttachTarget): string {
  const us = process.getuid!();
  if (us !== 0 && users.some((user) => user !== us))
    return `it belongs to another user (${[...new Set(users)].join(", ")}); try as root`;
  const scope = readText("/proc/sys/kernel/yama/ptrace_scope").trim();
  if (scope !== "" && scope !== "0")
    return `${PTRACE_SCOPE[scope] ?? "the kernel restricts tracing"} (kernel.yama.ptrace_scope is ${scope})`;
  return `the kernel does not let us read its memory (${closed}): it has other privileges than HERMES, or asked for this (PR_SET_DUMPABLE); try as root`;
}

function nameOf(pid: number): string {
  return readText(`/proc/${pid}/comm`).trim() || "unknown";
}

/**
 * Policies of an attached session also refuse calls that would bypass them, because its filter does not (see
 * `planDoors`).
 */
export function withUnseen(
  policies: readonly Policy[],
  live: readonly Syscall[],
  stack: PolicyStack,
): Policy[] {
  const constants = unseenRules({ stack, live });
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
 * Chooses the cheapest mechanism that serves all subscriptions. A filter, if the process may have one and the
 * notify door suffices; where execs are judged, its threads stay traced too. Otherwise every call stops.
 */
export function chooseAttachMode(target: AttachTarget, wanted: Wanted): AttachMode {
  const { stack, recorded, live, options, inside } = wanted;
  const attach = options.attach!;
  const request = { stack, recorded, live, attached: true };
  // A filter stays in the process for good, so install one only if a policy needs it.
  const hasPolicy = live.length > 0 || attach.filter || stack.policies.some((policy) => !policy.builtIn);
  const whyTrace =
    options.door === "trace"
      ? "as requested by --door trace"
      : options.door === "auto" && !hasPolicy
        ? "no policy needs a filter, and a filter would stay for good"
        : undefined;
  const auto = planDoors({ ...request, door: options.door });
  const why =
    whyTrace ??
    (auto.doors & (1 << DOOR.trace)
      ? "a policy needs returns or changes, which a filter cannot serve"
      : undefined);
  if (why === undefined && !inside) {
    const kept = findKeeper(target);
    const no = kept ? kept.lacks(auto) : whyNoFilter(target, attach);
    if (no === undefined) return byFilter(target, auto, wanted, kept);
    if (options.door === "notify") throw new HermesError("ATTACH_FILTER", { pid: target.pid, why: no });
    return byEveryCall(planDoors({ ...request, door: "trace" }), no);
  }
  if (inside && options.door === "notify")
    throw new HermesError("UNAVAILABLE", {
      what: "functions or instructions",
      why: "the notify door cannot see them; use --door auto or trace",
    });
  const all = byEveryCall(
    planDoors({ ...request, door: "trace" }),
    why ?? "a policy watches functions or instructions inside it",
  );
  return inside ? { ...all, flags: all.flags | ATTACH.firstReturn } : all;
}

function whyNoFilter(
  { noNewPrivs, isAdministrator, seccomp }: AttachTarget,
  { filter }: SessionAttachOptions,
): string | undefined {
  if (seccomp === 1) return "it is in strict mode of seccomp";
  if (filter) return undefined;
  if (seccomp === 2) return "it has its own filter, which may refuse our calls (use --filter to try)";
  if (!noNewPrivs && !isAdministrator)
    return "it would have to give up new privileges for good, such as those of setuid programs (use --filter to accept that)";
  return undefined;
}

function byFilter(
  target: AttachTarget,
  doorPlan: DoorPlan,
  wanted: Wanted,
  kept: KeptFilter | undefined,
): AttachMode {
  const judgesExecs = wanted.stack.wantsEntry(EXECVE) && !wanted.stack.isBuiltIn(EXECVE);
  const setsPrivileges = !kept && !target.noNewPrivs && !target.isAdministrator;
  const doors = doorPlan.doors | (1 << DOOR.notify) | (judgesExecs ? 1 << DOOR.trace : 0);
  return {
    doorPlan: { ...doorPlan, doors },
    flags: (judgesExecs ? ATTACH.stay : 0) | (setsPrivileges ? ATTACH.noNewPrivs : 0),
    filter: doorPlan.filter,
    stops: new Uint8Array(MAX_SYSCALL / 8),
    note: kept?.note ?? noteOf(target, doorPlan),
    keeper: kept?.keeper ?? 0,
    way: `attached by a filter${kept ? " that was there already" : ""}: calls without a subscription run as before; the filter stays when HERMES leaves, and a keeper process then lets all calls pass`,
  };
}

function byEveryCall(doorPlan: DoorPlan, why: string): AttachMode {
  const stops = new Uint8Array(MAX_SYSCALL / 8);
  for (const nr of doorPlan.doorOf.keys()) if (nr < MAX_SYSCALL) stops[nr >> 3]! |= 1 << (nr & 7);
  return {
    doorPlan: { ...doorPlan, doors: 1 << DOOR.trace, program: [], filter: new Uint8Array() },
    flags: ATTACH.stay | ATTACH.everyCall,
    filter: new Uint8Array(),
    stops,
    note: new Uint8Array(),
    keeper: 0,
    way: `attached without a filter: every call stops, which slows the program down, and opened paths are judged by name (${why})`,
  };
}

const EXECVE = callNumber("execve");
const FILTER_STEPS = new Set([3, 4, 5, 6, 7, 10]);

/** In the order of enum attach_step in native/session/attach.h. */
const STEPS = [
  "",
  "tracing it",
  "stopping its threads",
  "finding a system call instruction in it",
  "mapping memory in it",
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
  EBUSY: "it has a listener already",
  EACCES: "it may not install a filter",
};

/** Describes the result of native().attach() in words. */
export function attachError(pid: number, result: number): HermesError {
  const step = -result >> 12;
  const errno = errnoName(-result & 4095) ?? String(-result & 4095);
  const why = `${STEPS[step] ?? "a step"} failed: ${errno}${WHY[errno] ? ` (${WHY[errno]})` : ""}`;
  if (step === 1 && errno === "EPERM") return new HermesError("ATTACH_FORBIDDEN", { pid, why });
  return new HermesError(FILTER_STEPS.has(step) ? "ATTACH_FILTER" : "ATTACH", { pid, why });
}
