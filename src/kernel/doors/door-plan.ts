import { rereadOf, type Syscall, syscallByNumber } from "../../abi/index.js";
import { callNumber, callNumbers, errnoValue } from "../../abi/named.js";
import { HermesError } from "../../nouns/errors.js";
import { VERDICT_ACTIONS } from "../../nouns/verdict.js";
import type { CallSubscription, ConstantRule } from "../../policy/policy.js";
import type { PolicyStack } from "../../policy/stack.js";
import { VDSO_CALLS } from "../../policy/vdso-calls.js";
import { ARGUMENTS, FETCH, FETCH_PLAN_SIZE, FETCH_STEP_SIZE, MAX_SYSCALL } from "../binding/layout.js";
import { callShape } from "../decode/call-shape.js";
import {
  type CallTreatment,
  type CodeGate,
  compileFilter,
  encodeFilter,
  type FilterAction,
  type FilterSpec,
  type Instruction,
} from "../filter/index.js";
import type { Door } from "./door.js";
import { notifyDoor } from "./notify.js";
import { isMadeOnBehalf } from "./on-behalf.js";
import { traceDoor } from "./trace.js";
import { type UnhiddenVdso, unhideVdso, vdsoStillHidden } from "./vdso-calls.js";

/** Which call comes through which door, and the filter that routes it there. */
export interface DoorPlan extends UnhiddenVdso {
  readonly doorOf: ReadonlyMap<number, Door>;
  readonly doors: number;
  readonly program: readonly Instruction[];
  readonly filter: Uint8Array;
  readonly fetchPlan: Uint8Array;
  /**
   * Upper half of the sixth argument: marks a call that the trace door forwards to the notify door, to be
   * made on behalf.
   */
  readonly onBehalfMark: number;
  /** Calls that stop only for some values of their arguments, and these values. */
  readonly narrowed: ReadonlyMap<number, string>;
  /** Calls that do not stop when our code inside the program makes them: that code records them. */
  readonly gated: ReadonlySet<number>;
  /** io_uring is refused, because it could bypass a policy. */
  readonly refusesIoUring: boolean;
}

interface DoorRequest {
  readonly stack: PolicyStack;
  /** Calls that are recorded with their result even if no policy needs it. */
  readonly recorded: readonly Syscall[];
  readonly door: "auto" | "notify" | "trace";
  /** Calls that later policies may need. A filter can only be tightened, so these stop from the start. */
  readonly live: readonly Syscall[];
  /** Rules that the filter decides before any policy. */
  readonly always?: readonly ConstantRule[];
  /**
   * The program runs already, and its filter outlives the supervisor. So the filter only stops calls, and
   * changes nothing after we detach. Calls that must be refused are refused at their stop (`unseen`).
   */
  readonly attached?: boolean;
  /** Our code inside the program, which records these calls and makes them. */
  readonly gate?: CodeGate & { readonly calls: ReadonlySet<number> };
}

const UPPER_HALF = 0xffff_ffff_0000_0000n;
const IO_URING = callNumbers("io_uring_setup io_uring_enter io_uring_register");
/** Calls after which a tracee's paths may resolve differently from ours. */
export const CHANGES_VIEW: ReadonlySet<number> = new Set(
  callNumbers("chroot pivot_root setns mount umount2 move_mount"),
);
/** Calls after which a tracee's file permissions may differ from ours. */
export const CHANGES_IDENTITY: ReadonlySet<number> = new Set(
  callNumbers(
    "setuid setgid setreuid setregid setgroups setresuid setresgid setfsuid setfsgid capset unshare setns",
  ),
);
/** Those of them that set ids: which kind, and how many arguments. */
const SETS_IDS: ReadonlyMap<number, { readonly ids: "uid" | "gid"; readonly count: number }> = new Map([
  [callNumber("setuid"), { ids: "uid", count: 1 }],
  [callNumber("setgid"), { ids: "gid", count: 1 }],
  [callNumber("setreuid"), { ids: "uid", count: 2 }],
  [callNumber("setregid"), { ids: "gid", count: 2 }],
  [callNumber("setresuid"), { ids: "uid", count: 3 }],
  [callNumber("setresgid"), { ids: "gid", count: 3 }],
  [callNumber("setfsuid"), { ids: "uid", count: 1 }],
  [callNumber("setfsgid"), { ids: "gid", count: 1 }],
]);
const AS_IT_IS = -1;

/**
 * True when this call may change the identity of a tracee that has our identity. Some programs, such as make,
 * only set the ids that they have already.
 */
export function changesIdentity(nr: number, argument: (i: number) => number): boolean {
  if (!CHANGES_IDENTITY.has(nr)) return false;
  const sets = SETS_IDS.get(nr);
  if (!sets) return true;
  const [real, effective] =
    sets.ids === "uid"
      ? [process.getuid?.(), process.geteuid?.()]
      : [process.getgid?.(), process.getegid?.()];
  if (real !== effective) return true;
  for (let i = 0; i < sets.count; i++) if (argument(i) !== real && argument(i) !== AS_IT_IS) return true;
  return false;
}

const EXEC = callNumbers("execve execveat");
/** The kernel makes it in place of an interrupted call, at the same instruction. */
const RESTART_SYSCALL = callNumber("restart_syscall");
const PIDFD_SEND_SIGNAL = callNumber("pidfd_send_signal");
const ENOSYS = errnoValue("ENOSYS");
const ABSENT: FilterAction = { do: "errno", errno: ENOSYS };
/**
 * On-behalf calls would bypass restrictions that a program sets for itself with Landlock. So we report that
 * there is no Landlock. A ruleset may come from another process over a socket, so all three calls are
 * refused.
 */
const LANDLOCK = callNumbers("landlock_create_ruleset landlock_add_rule landlock_restrict_self");
const EOPNOTSUPP = errnoValue("EOPNOTSUPP");
/** Classes of calls that io_uring can make (io_uring_enter(2)): policies on these would not see them. */
const THROUGH_IO_URING = new Set([
  "file",
  "open",
  "read",
  "write",
  "network",
  "connect",
  "bind",
  "desc",
  "delete",
  "rename",
  "stat",
  "create",
]);

export function planDoors(request: DoorRequest): DoorPlan {
  const { stack } = request;
  const hidden = unhideVdso(stack, request.door, request.live);
  const tracesProgram = hidden.trapsCounter || hidden.unhidden.size > 0;
  const doorOf = chooseDoors(request, tracesProgram);
  const refusesIoUring = couldPassUnseen(request);
  const onBehalfMark = 1 + Math.floor(Math.random() * 2 ** 31); // a program that guesses it only reaches the other door: harmless
  const narrowed = narrowing(request, doorOf);
  const gated = gatedCalls(request, doorOf);
  const program = compileFilter(
    request.attached
      ? lastingFilter(doorOf, narrowed)
      : filterSpec(request, doorOf, narrowed, gated, refusesIoUring, onBehalfMark),
  );
  const doors = new Set(doorOf.values());
  if (tracesProgram) doors.add(traceDoor);
  const madeOnBehalf = !request.attached && onBehalfAtTraceDoor(stack, doorOf).length > 0;
  return {
    doorOf,
    onBehalfMark,
    doors: [...doors].reduce(
      (bits, door) => bits | (1 << door.number),
      madeOnBehalf ? 1 << notifyDoor.number : 0,
    ),
    program,
    filter: encodeFilter(program),
    fetchPlan: fetchPlan(doorOf.keys()),
    narrowed: new Map([...narrowed].map(([nr, when]) => [nr, whenKey(when)])),
    gated,
    refusesIoUring,
    ...hidden,
  };
}

/** True when io_uring could bypass a subscription. */
function couldPassUnseen({ stack, live }: Pick<DoorRequest, "stack" | "live">): boolean {
  return (
    live.some(({ nr }) => passesIoUring(nr, THROUGH_IO_URING)) ||
    stack.policies.some(({ builtIn, subscription: { calls, constants } }) =>
      [...calls.keys(), ...(builtIn ? [] : constants.map(({ nr }) => nr))].some((nr) =>
        passesIoUring(nr, builtIn ? FILES : THROUGH_IO_URING),
      ),
    )
  );
}

/**
 * Calls that would bypass these policies, as rules that deny them: for sessions whose filter cannot refuse
 * calls.
 */
export function unseenRules({ stack, live }: Pick<DoorRequest, "stack" | "live">): ConstantRule[] {
  const rule = (nr: number, errno: number, reason: string): ConstantRule => {
    return { id: "unseen", nr, tests: [], action: "deny", errno, reason };
  };
  const numbers = [...stack.subscriptions().keys(), ...live.map(({ nr }) => nr)];
  const madeOnBehalf = numbers.some(isOnBehalfNumber);
  return [
    ...(couldPassUnseen({ stack, live })
      ? IO_URING.map((nr) => rule(nr, ENOSYS, "io_uring would bypass a policy."))
      : []),
    ...(madeOnBehalf
      ? LANDLOCK.map((nr) =>
          rule(nr, EOPNOTSUPP, "Calls made on behalf of the program would bypass its Landlock rules."),
        )
      : []),
  ];
}

function isOnBehalfNumber(nr: number): boolean {
  return isMadeOnBehalf(syscallByNumber(nr)!);
}

/**
 * Calls that are only recorded. Calls that a policy or the session decides on keep their door. Where the
 * session needs only some cases (`when`), the filter stops those before it checks the gate.
 */
function gatedCalls({ stack, gate, live }: DoorRequest, doorOf: ReadonlyMap<number, Door>): Set<number> {
  const subscriptions = stack.subscriptions();
  const decided = [...live, ...stack.constants].map(({ nr }) => nr);
  const kept = new Set([...CHANGES_VIEW, ...CHANGES_IDENTITY, ...decided]);
  const isGated = (nr: number) =>
    doorOf.get(nr) === traceDoor &&
    !kept.has(nr) &&
    (!subscriptions.has(nr) || subscriptions.get(nr)!.when !== undefined);
  return new Set([...(gate?.calls ?? [])].filter(isGated));
}

/** io_uring has no counterpart for the built-in policy's calls on descriptors and processes. */
const FILES: ReadonlySet<string> = new Set(["file"]);

function passesIoUring(nr: number, classes: ReadonlySet<string>): boolean {
  return syscallByNumber(nr)?.classes.some((cls) => classes.has(cls)) === true;
}

type When = NonNullable<CallSubscription["when"]>;

/** If all subscriptions to a call want the same few cases of it, only those stop. */
function narrowing(
  { stack, recorded, live }: DoorRequest,
  doorOf: ReadonlyMap<number, Door>,
): Map<number, When> {
  const whole = new Set([...recorded, ...live].map(({ nr }) => nr));
  const narrowed = new Map<number, When>();
  for (const [nr, { when }] of stack.subscriptions())
    if (when && !whole.has(nr) && !CHANGES_VIEW.has(nr) && doorOf.has(nr)) narrowed.set(nr, when);
  return narrowed;
}

function whenKey(when: When | undefined): string {
  return JSON.stringify(when, (_, value) => (typeof value === "bigint" ? String(value) : value)) ?? "";
}

/** Chooses the cheapest door that serves all subscriptions to the call. */
function chooseDoors(
  { stack, recorded, door, live, attached }: DoorRequest,
  tracesAnyway: boolean,
): Map<number, Door> {
  const doorOf = new Map<number, Door>();
  for (const [nr, subscription] of stack.subscriptions()) {
    if (stack.isBuiltIn(nr)) continue;
    const call = syscallByNumber(nr)!;
    if (door === "notify" && (subscription.returns || subscription.inside))
      throw new HermesError("UNAVAILABLE", {
        what: subscription.returns
          ? `the return of ${call.name}`
          : `the stack or the registers at ${call.name}`,
        why: "the notify door cannot read them; use --door auto or trace",
      });
    const notifyServes =
      !subscription.returns &&
      !subscription.inside &&
      [...subscription.actions].every((action) => notifyDoor.can(call, action));
    const unhidden = subscription.named && VDSO_CALLS.has(nr); // the trace door is open for it anyway
    const byNotify = door === "notify" || (door === "auto" && notifyServes && !unhidden);
    doorOf.set(nr, byNotify ? notifyDoor : traceDoor);
  }
  for (const { nr } of [...recorded, ...live]) doorOf.set(nr, door === "notify" ? notifyDoor : traceDoor);
  // Calls that every session stops must not open a second door.
  const onlyTrace = doorOf.size > 0 && ![...doorOf.values()].includes(notifyDoor);
  const cheapest = door === "trace" || (door === "auto" && onlyTrace) ? traceDoor : notifyDoor;
  for (const [nr, { returns }] of stack.subscriptions())
    if (!doorOf.has(nr)) doorOf.set(nr, returns ? traceDoor : cheapest);
  const [some] = doorOf.values();
  const asksWhoCalls = (nr: number) =>
    callShape(syscallByNumber(nr)!).paths.length > 0 || (isOnBehalfNumber(nr) && nr !== PIDFD_SEND_SIGNAL);
  if (some && [...doorOf.keys()].some(asksWhoCalls))
    for (const nr of [...CHANGES_VIEW, ...CHANGES_IDENTITY]) if (!doorOf.has(nr)) doorOf.set(nr, some);
  // What is traced already cannot be traced for one exec. An attached session sees exec events separately.
  if (!attached && (tracesAnyway || [...doorOf.values()].includes(traceDoor)))
    for (const nr of EXEC) if (stack.mayRefuse(nr)) doorOf.set(nr, traceDoor);
  // A program with a listener waits at its first execve until the supervisor has taken over the listener.
  if (
    !attached &&
    ([...doorOf.values()].includes(notifyDoor) || onBehalfAtTraceDoor(stack, doorOf).length > 0)
  )
    for (const nr of EXEC) if (!doorOf.has(nr)) doorOf.set(nr, notifyDoor);
  return doorOf;
}

/**
 * Calls of the trace door that may be made on behalf, which needs a notification: those that policies
 * subscribe to, now or after a reload. If only built-in policies decide, no others will come.
 */
function onBehalfAtTraceDoor(stack: PolicyStack, doorOf: ReadonlyMap<number, Door>): number[] {
  const now = stack.subscriptions();
  const own = stack.policies.every((policy) => policy.builtIn);
  const madeOnBehalf = [...doorOf].flatMap(([nr, door]) =>
    door === traceDoor && isMadeOnBehalf(syscallByNumber(nr)!) && (!own || now.has(nr)) ? [nr] : [],
  );
  // Without a listener the trace door can still make pidfd_send_signal itself: that call alone opens no
  // second door.
  const needsListener =
    madeOnBehalf.some((nr) => nr !== PIDFD_SEND_SIGNAL) || [...doorOf.values()].includes(notifyDoor);
  return needsListener ? madeOnBehalf : [];
}

function filterSpec(
  { stack, gate, live, always = [] }: DoorRequest,
  doorOf: ReadonlyMap<number, Door>,
  narrowed: ReadonlyMap<number, When>,
  gated: ReadonlySet<number>,
  refusesIoUring: boolean,
  onBehalfMark: number,
): FilterSpec {
  const calls = new Map<number, CallTreatment>();
  const treatment = (nr: number): CallTreatment => {
    const entry = calls.get(nr) ?? { rules: [], otherwise: { do: "allow" } };
    calls.set(nr, entry);
    return entry;
  };
  const subscriptions = stack.subscriptions();
  for (const [nr, door] of doorOf) {
    const isAbsent = subscriptions.get(nr)?.entry === true && rereadOf(syscallByNumber(nr)!) === "absent";
    if (!narrowed.has(nr)) treatment(nr).otherwise = isAbsent ? ABSENT : { do: door.name };
  }
  const strictestFirst = [...always, ...stack.constantsInFilter].sort(
    (a, b) => Number(b.action === "kill") - Number(a.action === "kill"),
  );
  for (const rule of strictestFirst) {
    const action: FilterAction = rule.action === "kill" ? { do: "kill" } : { do: "errno", errno: rule.errno };
    treatment(rule.nr).rules.push({ tests: [...rule.tests], action });
  }
  const marked = {
    arg: 5,
    width: 64,
    op: "masked",
    mask: UPPER_HALF,
    value: BigInt(onBehalfMark) << 32n,
  } as const;
  for (const nr of onBehalfAtTraceDoor(stack, doorOf))
    treatment(nr).rules.push({ tests: [marked], action: { do: "notify" } });
  // Also if only built-in policies read files: they too have files opened on behalf.
  if ([...stack.subscriptions().keys(), ...live.map(({ nr }) => nr)].some(isOnBehalfNumber))
    for (const nr of LANDLOCK)
      treatment(nr).rules.push({ tests: [], action: { do: "errno", errno: EOPNOTSUPP } });
  const stoppedFirst = [
    ...narrowed,
    ...[...gated].map((nr) => [nr, subscriptions.get(nr)?.when ?? []] as const),
  ];
  for (const [nr, when] of stoppedFirst)
    for (const tests of when)
      treatment(nr).rules.push({ tests: [...tests], action: { do: doorOf.get(nr)!.name } });
  if (gate && gated.size > 0)
    for (const nr of [...gated, RESTART_SYSCALL]) treatment(nr).gate = { from: gate.from, to: gate.to };
  if (refusesIoUring)
    for (const nr of IO_URING) calls.set(nr, { rules: [], otherwise: { do: "errno", errno: ENOSYS } });
  return { calls, otherwise: { do: "allow" }, foreign: { do: "kill" } };
}

/** The filter of an attached program: it only says which calls stop. */
function lastingFilter(doorOf: ReadonlyMap<number, Door>, narrowed: ReadonlyMap<number, When>): FilterSpec {
  const stop = { do: "notify" } as const;
  const calls = new Map<number, CallTreatment>();
  for (const nr of doorOf.keys()) {
    const when = narrowed.get(nr);
    const rules = (when ?? []).map((tests) => ({ tests: [...tests], action: stop }));
    calls.set(nr, { rules, otherwise: when ? { do: "allow" } : stop });
  }
  return { calls, otherwise: { do: "allow" }, foreign: stop };
}

/** What a stack of policies needs and the installed doors cannot deliver. */
interface Unserved {
  /** Calls that do not stop, or not in every case. */
  readonly unstopped: readonly string[];
  /** They stop where they can only be decided. */
  readonly unchangeable: readonly string[];
  /** The same, for policies that do not say which answers they may give. */
  readonly limited: readonly string[];
}

/** The stack can replace the current one if every call stops that it needs, and none is unchangeable. */
export function unserved(arrangement: DoorPlan, stack: PolicyStack): Unserved {
  const found = { unstopped: new Set<string>(), unchangeable: new Set<string>(), limited: new Set<string>() };
  for (const [nr, { returns, inside, actions, when }] of stack.subscriptions()) {
    const call = syscallByNumber(nr)!;
    const door = arrangement.doorOf.get(nr);
    const narrowed = arrangement.narrowed.get(nr);
    if (!door || (narrowed !== undefined && narrowed !== whenKey(when))) found.unstopped.add(call.name);
    else if (door === traceDoor) continue;
    else if (returns || inside) found.unchangeable.add(call.name);
    else if (![...actions].every((action) => door.canLater(call, action)))
      found[actions.size < VERDICT_ACTIONS.length ? "unchangeable" : "limited"].add(call.name);
  }
  for (const { nr } of stack.constantsAtStop)
    if (!arrangement.doorOf.has(nr)) found.unstopped.add(syscallByNumber(nr)!.name);
  for (const name of vdsoStillHidden(arrangement, stack)) found.unstopped.add(name);
  const { unstopped, unchangeable, limited } = found;
  return { unstopped: [...unstopped], unchangeable: [...unchangeable], limited: [...limited] };
}

const PATH_MAX = 4096;
const SOCKADDR_MAX = 128;
const HOW_MAX = 24;

/** Paths and addresses are copied at the stop, everything else on first use. */
function fetchPlan(numbers: Iterable<number>): Uint8Array {
  const plan = new Uint8Array(FETCH_PLAN_SIZE);
  const view = new DataView(plan.buffer);
  const step = (nr: number, arg: number, kind: number, length: number, maximum: number) => {
    const at = (nr * ARGUMENTS + arg) * FETCH_STEP_SIZE;
    plan[at] = kind;
    plan[at + 1] = length;
    view.setUint16(at + 2, maximum, true);
  };
  for (const nr of numbers) {
    const call = syscallByNumber(nr);
    if (!call || nr >= MAX_SYSCALL) continue;
    const { paths, address, how } = callShape(call);
    for (const path of paths) step(nr, path, FETCH.string, 0, PATH_MAX);
    if (how >= 0) step(nr, how, FETCH.bytes, call.args[how]!.length ?? how + 1, HOW_MAX);
    const argument = call.args[address];
    if (argument && (argument.direction ?? "in") === "in")
      step(nr, address, FETCH.bytes, argument.length!, SOCKADDR_MAX);
  }
  return plan;
}
