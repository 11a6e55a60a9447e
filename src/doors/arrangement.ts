import { rereadOf, type Syscall, syscallByNumber } from "../abi/index.js";
import { shapeOf } from "../decode/shape.js";
import { HermesError } from "../errors.js";
import {
  type CallTreatment,
  compileFilter,
  encodeFilter,
  type FilterAction,
  type FilterSpec,
  type Gate,
  type Instruction,
} from "../kernel/filter/index.js";
import { ARGUMENTS, FETCH, FETCH_PLAN_SIZE, FETCH_STEP_SIZE, MAX_SYSCALL } from "../kernel/layout.js";
import type { ConstantRule, Interest } from "../policy/policy.js";
import type { PolicyStack } from "../policy/stack.js";
import { VDSO_CALLS } from "../policy/vdso.js";
import { hasAct } from "./act.js";
import type { Door } from "./door.js";
import { notifyDoor } from "./notify.js";
import { traceDoor } from "./trace.js";
import { stillHidden, type Unhidden, unhide } from "./unhidden.js";

/** Which call comes through which door, and the filter that sees to it. */
export interface Arrangement extends Unhidden {
  readonly doorOf: ReadonlyMap<number, Door>;
  readonly doors: number;
  readonly program: readonly Instruction[];
  readonly filter: Uint8Array;
  readonly fetchPlan: Uint8Array;
  /** In the upper half of the sixth argument: a call that the trace door sends on to be made in the program's place. */
  readonly actMark: number;
  /** Calls that are stopped only for some values of their arguments, and which. */
  readonly narrowed: ReadonlyMap<number, string>;
  /** Calls that are not stopped where they are made by code of ours in the program, which records them. */
  readonly gated: ReadonlySet<number>;
  /** io_uring could do unseen what a policy wants to see, and is refused. */
  readonly refusesIoUring: boolean;
}

export interface Wishes {
  readonly stack: PolicyStack;
  /** Calls that are recorded with their result, whatever the policies want. */
  readonly recorded: readonly Syscall[];
  readonly door: "auto" | "notify" | "trace";
  /** Calls that policies to come may want: a filter can only be tightened, so they are stopped from the start. */
  readonly live: readonly Syscall[];
  /** What the filter decides whatever policies say. */
  readonly always?: readonly ConstantRule[];
  /**
   * The program runs already, and its filter outlasts us: it decides nothing itself, so that it changes nothing when we
   * have gone. What must be refused is refused when it stops (`unseen`).
   */
  readonly attached?: boolean;
  /** Code of ours in the program that records these calls and makes them. */
  readonly gate?: Gate & { readonly calls: ReadonlySet<number> };
}

const UPPER_HALF = 0xffff_ffff_0000_0000n;
const IO_URING = [425, 426, 427];
/** Calls after which a tracee's paths may lead elsewhere than ours: chroot, pivot_root, setns, mount, umount2, move_mount. */
export const CHANGES_VIEW: ReadonlySet<number> = new Set([161, 155, 308, 165, 166, 429]);
/** Calls after which a tracee may touch other files than we: set*id, setgroups, capset, unshare, setns. */
const CHANGES_IDENTITY: ReadonlySet<number> = new Set([
  105, 106, 113, 114, 116, 117, 119, 122, 123, 126, 272, 308,
]);
/** Of these, those that set ids: whose, and how many. */
const SETS_IDS: ReadonlyMap<number, { readonly ids: "uid" | "gid"; readonly count: number }> = new Map([
  [105, { ids: "uid", count: 1 }],
  [106, { ids: "gid", count: 1 }],
  [113, { ids: "uid", count: 2 }],
  [114, { ids: "gid", count: 2 }],
  [117, { ids: "uid", count: 3 }],
  [119, { ids: "gid", count: 3 }],
  [122, { ids: "uid", count: 1 }],
  [123, { ids: "gid", count: 1 }],
]);
const AS_IT_IS = -1;

/** Whether a tracee that is who we are may be somebody else after this call. make(1) sets the ids that it has. */
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

const EXEC = [59, 322];
/** Made by the kernel in the place of an interrupted call, at the same instruction. */
const RESTART_SYSCALL = 219;
const PIDFD_SEND_SIGNAL = 424;
const ENOSYS = 38;
const ABSENT: FilterAction = { do: "errno", errno: ENOSYS };
/**
 * What a program forbids itself with Landlock, calls made in its place would not keep to: it is told that there is no
 * Landlock. A ruleset may have come from elsewhere, over a socket: so all three calls are refused.
 */
const LANDLOCK = [444, 445, 446];
const EOPNOTSUPP = 95;
/** What io_uring can do in a program's place (io_uring_enter(2)): policies on these would be blind to it. */
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

export function arrange(wishes: Wishes): Arrangement {
  const doorOf = chooseDoors(wishes);
  const { stack } = wishes;
  const refusesIoUring = couldPassUnseen(wishes);
  const actMark = 1 + Math.floor(Math.random() * 2 ** 31); // whoever guesses it comes through the other door: no harm
  const narrowed = narrowing(wishes, doorOf);
  const hidden = unhide(stack, wishes.door, wishes.live);
  const gated = gatedCalls(wishes, doorOf);
  const program = compileFilter(
    wishes.attached
      ? lastingFilter(doorOf, narrowed)
      : filterSpec(wishes, doorOf, narrowed, gated, refusesIoUring, actMark),
  );
  const doors = new Set(doorOf.values());
  if (hidden.trapsCounter || hidden.unhidden.size > 0) doors.add(traceDoor);
  const acts = !wishes.attached && actsAtTraceDoor(stack, doorOf).length > 0;
  return {
    doorOf,
    actMark,
    doors: [...doors].reduce((bits, door) => bits | (1 << door.number), acts ? 1 << notifyDoor.number : 0),
    program,
    filter: encodeFilter(program),
    fetchPlan: fetchPlan(doorOf.keys()),
    narrowed: new Map([...narrowed].map(([nr, when]) => [nr, whenKey(when)])),
    gated,
    refusesIoUring,
    ...hidden,
  };
}

/** Whether io_uring could do what somebody wants to see. */
function couldPassUnseen({ stack, live }: Pick<Wishes, "stack" | "live">): boolean {
  return (
    live.some(({ nr }) => passesIoUring(nr, THROUGH_IO_URING)) ||
    stack.policies.some(({ builtIn, subscription: { calls, constants } }) =>
      [...calls.keys(), ...(builtIn ? [] : constants.map(({ nr }) => nr))].some((nr) =>
        passesIoUring(nr, builtIn ? FILES : THROUGH_IO_URING),
      ),
    )
  );
}

/** What would pass these policies by and is refused: for where no filter of ours can refuse it. */
export function unseen({ stack, live }: Pick<Wishes, "stack" | "live">): ConstantRule[] {
  const rule = (nr: number, errno: number, reason: string): ConstantRule => {
    return { id: "unseen", nr, tests: [], action: "deny", errno, reason };
  };
  const numbers = [...stack.interests().keys(), ...live.map(({ nr }) => nr)];
  const acts = numbers.some(hasActOf);
  return [
    ...(couldPassUnseen({ stack, live })
      ? IO_URING.map((nr) => rule(nr, ENOSYS, "io_uring does unseen what a policy wants to see."))
      : []),
    ...(acts
      ? LANDLOCK.map((nr) => rule(nr, EOPNOTSUPP, "Calls made in its place would not keep to it."))
      : []),
  ];
}

function hasActOf(nr: number): boolean {
  return hasAct(syscallByNumber(nr)!);
}

/**
 * Calls that are only recorded. What a policy decides on keeps its door, and so does what the session itself must see;
 * where it must see some cases only (`when`), those are stopped before the gate is looked at.
 */
function gatedCalls({ stack, gate, live }: Wishes, doorOf: ReadonlyMap<number, Door>): Set<number> {
  const interests = stack.interests();
  const decided = [...live, ...stack.constants].map(({ nr }) => nr);
  const kept = new Set([...CHANGES_VIEW, ...CHANGES_IDENTITY, ...decided]);
  const isGated = (nr: number) =>
    doorOf.get(nr) === traceDoor &&
    !kept.has(nr) &&
    (!interests.has(nr) || interests.get(nr)!.when !== undefined);
  return new Set([...(gate?.calls ?? [])].filter(isGated));
}

/** Of the built-in policy's calls, those on descriptors and processes have no counterpart there. */
const FILES: ReadonlySet<string> = new Set(["file"]);

function passesIoUring(nr: number, classes: ReadonlySet<string>): boolean {
  return syscallByNumber(nr)?.classes.some((cls) => classes.has(cls)) === true;
}

type When = NonNullable<Interest["when"]>;

/** Where all who want a call want the same few cases of it, only those are stopped. */
function narrowing({ stack, recorded, live }: Wishes, doorOf: ReadonlyMap<number, Door>): Map<number, When> {
  const whole = new Set([...recorded, ...live].map(({ nr }) => nr));
  const narrowed = new Map<number, When>();
  for (const [nr, { when }] of stack.interests())
    if (when && !whole.has(nr) && !CHANGES_VIEW.has(nr) && doorOf.has(nr)) narrowed.set(nr, when);
  return narrowed;
}

function whenKey(when: When | undefined): string {
  return JSON.stringify(when, (_, value) => (typeof value === "bigint" ? String(value) : value)) ?? "";
}

/** The cheapest door that can serve all that is wanted of the call. */
function chooseDoors({ stack, recorded, door, live, attached }: Wishes): Map<number, Door> {
  const doorOf = new Map<number, Door>();
  for (const [nr, interest] of stack.interests()) {
    if (stack.isBuiltIn(nr)) continue;
    const call = syscallByNumber(nr)!;
    if (door === "notify" && (interest.returns || interest.inside))
      throw new HermesError("UNAVAILABLE", {
        what: interest.returns ? `the return of ${call.name}` : `the stack or the registers at ${call.name}`,
        why: "the notify door does not see them",
      });
    const notifyServes =
      !interest.returns &&
      !interest.inside &&
      [...interest.actions].every((action) => notifyDoor.can(call, action));
    // What really runs is seen only where execs are seen. Whoever is attached to sees them apart from its calls.
    const rechecked =
      !attached && EXEC.includes(nr) && [...interest.actions].some((action) => action !== "allow");
    const unhidden = interest.named && VDSO_CALLS.has(nr); // the trace door is open for it anyway
    const byNotify = door === "notify" || (door === "auto" && notifyServes && !rechecked && !unhidden);
    doorOf.set(nr, byNotify ? notifyDoor : traceDoor);
  }
  for (const { nr } of [...recorded, ...live]) doorOf.set(nr, door === "notify" ? notifyDoor : traceDoor);
  // What comes with every session opens no second door.
  const onlyTrace = doorOf.size > 0 && ![...doorOf.values()].includes(notifyDoor);
  const cheapest = door === "trace" || (door === "auto" && onlyTrace) ? traceDoor : notifyDoor;
  for (const [nr, { returns }] of stack.interests())
    if (!doorOf.has(nr)) doorOf.set(nr, returns ? traceDoor : cheapest);
  const [some] = doorOf.values();
  const asksWhoCalls = (nr: number) =>
    shapeOf(syscallByNumber(nr)!).paths.length > 0 || (hasActOf(nr) && nr !== PIDFD_SEND_SIGNAL);
  if (some && [...doorOf.keys()].some(asksWhoCalls))
    for (const nr of [...CHANGES_VIEW, ...CHANGES_IDENTITY]) if (!doorOf.has(nr)) doorOf.set(nr, some);
  // A program with a listener is held at its first execve until we have taken the listener over.
  if (!attached && ([...doorOf.values()].includes(notifyDoor) || actsAtTraceDoor(stack, doorOf).length > 0))
    for (const nr of EXEC) if (!doorOf.has(nr)) doorOf.set(nr, notifyDoor);
  return doorOf;
}

/**
 * Calls of the trace door that may be made in the program's place, which takes a notification: those that policies look
 * at, now or after a reload. Where nothing but what comes with every session decides, that is all there will ever be.
 */
function actsAtTraceDoor(stack: PolicyStack, doorOf: ReadonlyMap<number, Door>): number[] {
  const now = stack.interests();
  const own = stack.policies.every((policy) => policy.builtIn);
  const acts = [...doorOf].flatMap(([nr, door]) =>
    door === traceDoor && hasAct(syscallByNumber(nr)!) && (!own || now.has(nr)) ? [nr] : [],
  );
  // Without a listener the trace door makes this one itself: it alone opens no second door.
  const needsListener =
    acts.some((nr) => nr !== PIDFD_SEND_SIGNAL) || [...doorOf.values()].includes(notifyDoor);
  return needsListener ? acts : [];
}

function filterSpec(
  { stack, gate, live, always = [] }: Wishes,
  doorOf: ReadonlyMap<number, Door>,
  narrowed: ReadonlyMap<number, When>,
  gated: ReadonlySet<number>,
  refusesIoUring: boolean,
  actMark: number,
): FilterSpec {
  const calls = new Map<number, CallTreatment>();
  const treatment = (nr: number): CallTreatment => {
    const entry = calls.get(nr) ?? { rules: [], otherwise: { do: "allow" } };
    calls.set(nr, entry);
    return entry;
  };
  const interests = stack.interests();
  for (const [nr, door] of doorOf) {
    const isAbsent = interests.get(nr)?.entry === true && rereadOf(syscallByNumber(nr)!) === "absent";
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
    value: BigInt(actMark) << 32n,
  } as const;
  for (const nr of actsAtTraceDoor(stack, doorOf))
    treatment(nr).rules.push({ tests: [marked], action: { do: "notify" } });
  // Also where only what comes with every session looks at files: it has them opened in the program's place too.
  if ([...stack.interests().keys(), ...live.map(({ nr }) => nr)].some(hasActOf))
    for (const nr of LANDLOCK)
      treatment(nr).rules.push({ tests: [], action: { do: "errno", errno: EOPNOTSUPP } });
  const stoppedFirst = [...narrowed, ...[...gated].map((nr) => [nr, interests.get(nr)?.when ?? []] as const)];
  for (const [nr, when] of stoppedFirst)
    for (const tests of when)
      treatment(nr).rules.push({ tests: [...tests], action: { do: doorOf.get(nr)!.name } });
  if (gate && gated.size > 0)
    for (const nr of [...gated, RESTART_SYSCALL]) treatment(nr).gate = { from: gate.from, to: gate.to };
  if (refusesIoUring)
    for (const nr of IO_URING) calls.set(nr, { rules: [], otherwise: { do: "errno", errno: ENOSYS } });
  return { calls, otherwise: { do: "allow" }, foreign: { do: "kill" } };
}

/** Says of every call only whether it stops. */
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

/**
 * What this stack of policies wants that an arrangement already in force cannot give: names of calls, none when it can
 * take the place of the one that was arranged for.
 */
export function unserved(arrangement: Arrangement, stack: PolicyStack): string[] {
  const missing: string[] = [];
  for (const [nr, { returns, inside, actions, when }] of stack.interests()) {
    const call = syscallByNumber(nr)!;
    const door = arrangement.doorOf.get(nr);
    const narrowed = arrangement.narrowed.get(nr);
    const served =
      door &&
      (narrowed === undefined || narrowed === whenKey(when)) &&
      (door === traceDoor || (!returns && !inside && [...actions].every((action) => door.can(call, action))));
    if (!served) missing.push(call.name);
  }
  for (const { nr } of stack.constantsAtStop)
    if (!arrangement.doorOf.has(nr)) missing.push(syscallByNumber(nr)!.name);
  missing.push(...stillHidden(arrangement, stack));
  return [...new Set(missing)];
}

const PATH_MAX = 4096;
const SOCKADDR_MAX = 128;
const HOW_MAX = 24;

/** Paths and addresses are copied as soon as the call stops; the rest when somebody looks. */
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
    const { paths, address, how } = shapeOf(call);
    for (const path of paths) step(nr, path, FETCH.string, 0, PATH_MAX);
    if (how >= 0) step(nr, how, FETCH.bytes, call.args[how]!.length ?? how + 1, HOW_MAX);
    const argument = call.args[address];
    if (argument && (argument.direction ?? "in") === "in")
      step(nr, address, FETCH.bytes, argument.length!, SOCKADDR_MAX);
  }
  return plan;
}
