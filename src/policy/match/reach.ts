import { syscallByName } from "../../abi/index.js";
import { flagsValue } from "../../abi/named.js";
import type { CallEvent, Receiver, ReceiverKind } from "../../nouns/event.js";

/**
 * The target of a call other than a signal: another process, by pid, group or descriptor, or a shared object.
 * `outside` is everything that does not belong to the run. Signals have their own receivers (event.ts).
 */
type Reached = Extract<ReceiverKind, "own" | "session" | "outside">;
type Reaches = (event: CallEvent) => Reached;

const KINDS: Readonly<Record<Reached, readonly ReceiverKind[]>> = {
  own: ["own", "session"],
  session: ["session"],
  outside: ["outside"],
};

const int = (event: CallEvent, i: number) => Number(BigInt.asIntN(32, event.argument(i)));
const ofRun = (isSo: boolean): Reached => (isSo ? "session" : "outside");

/**
 * Pids are comparable only if the caller sees the same ones as we do: in a pid namespace of the run, all
 * belong to the run.
 */
function sharesNumbers({ process: { pid, innerPid = pid } }: CallEvent): boolean {
  return pid === innerPid;
}

function processOf(event: CallEvent, pid: number): Reached {
  const { process, kin } = event;
  if (pid === 0 || pid === process.pid) return "own";
  return ofRun(!sharesNumbers(event) || kin.hasProcess(pid));
}

const process_ =
  (i: number): Reaches =>
  (event) =>
    processOf(event, int(event, i));

/**
 * setpriority(2), ioprio_set(2): `first` is their constant for a process; those for groups and users follow.
 */
const asPriority =
  (first: number): Reaches =>
  (event) => {
    const kind = int(event, 0) - first;
    const who = int(event, 1);
    if (kind === 0) return process_(1)(event);
    return ofRun(kind === 1 && (who === 0 || !sharesNumbers(event) || event.kin.hasGroup(who)));
  };

const PTRACE_ATTACH = flagsValue("ptrace", "PTRACE_ATTACH");
const PTRACE_SEIZE = flagsValue("ptrace", "PTRACE_SEIZE");

/** Other requests target a process that is traced already. */
const asTracer: Reaches = (event) =>
  [PTRACE_ATTACH, PTRACE_SEIZE].includes(int(event, 0)) ? process_(1)(event) : "session";

/** A process by its pidfd, or by its folder in /proc, which serves as one. */
const behindDescriptor: Reaches = (event) => {
  const pid = event.kin.processBehind(int(event, 0));
  return pid === undefined ? "outside" : processOf(event, pid);
};

/** kcmp(2) reads both processes. */
const bothProcesses: Reaches = (event) => {
  const both = [process_(0)(event), process_(1)(event)];
  return both.includes("outside") ? "outside" : both.includes("session") ? "session" : "own";
};

const shared =
  (table: "shm" | "sem" | "msg", by: "key" | "id"): Reaches =>
  (event) =>
    ofRun(event.kin.hasShared(table, by, int(event, 0)));

const TABLE: readonly (readonly [calls: string, reaches: Reaches])[] = [
  ["pidfd_getfd process_madvise process_mrelease", behindDescriptor],
  ["ptrace", asTracer],
  ["process_vm_readv process_vm_writev get_robust_list", process_(0)],
  ["kcmp", bothProcesses],
  ["perf_event_open", (event) => (int(event, 1) === -1 ? "outside" : process_(1)(event))],
  ["prlimit64 sched_setscheduler sched_setparam sched_setattr sched_setaffinity", process_(0)],
  ["migrate_pages move_pages", process_(0)],
  ["setpriority", asPriority(0)],
  ["ioprio_set", asPriority(1)],
  ["shmget", shared("shm", "key")],
  ["shmat shmctl", shared("shm", "id")],
  ["semget", shared("sem", "key")],
  ["semop semtimedop semctl", shared("sem", "id")],
  ["msgget", shared("msg", "key")],
  ["msgsnd msgrcv msgctl", shared("msg", "id")],
];

const reachesByCall = new Map<number, Reaches>(
  TABLE.flatMap(([calls, reaches]) =>
    calls.split(" ").map((name) => [syscallByName(name)!.nr, reaches] as const),
  ),
);

/** Undefined for a call without such a target. */
export function reachedBy(event: CallEvent): Receiver | undefined {
  const reaches = reachesByCall.get(event.nr);
  return reaches && { pid: undefined, is: KINDS[reaches(event)] };
}

export function reachesOthers(nr: number): boolean {
  return reachesByCall.has(nr);
}
