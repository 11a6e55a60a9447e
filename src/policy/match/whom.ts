import { syscallByName } from "../../abi/index.js";
import type { CallEvent } from "../../event.js";

/**
 * Whom a call reaches: other processes, by number, group or descriptor, or objects that processes share. What a rule says
 * with `whom: other` is about all that do not belong to the run.
 */
type Reaches = (event: CallEvent) => boolean;

const int = (event: CallEvent, i: number) => Number(BigInt.asIntN(32, event.argument(i)));

/** Numbers mean something to us only where the caller sees the same ones: in a pid namespace of the run all are its own. */
function sharesNumbers({ process: { pid, innerPid = pid } }: CallEvent): boolean {
  return pid === innerPid;
}

function isOwnProcess(event: CallEvent, pid: number): boolean {
  const { process, kin } = event;
  return pid === 0 || pid === process.pid || !sharesNumbers(event) || kin.hasProcess(pid);
}

const process_ =
  (i: number): Reaches =>
  (event) =>
    !isOwnProcess(event, int(event, i));

/** kill(2): 0 is the caller's own group, which the session's own defence looks at; -1 is everybody. */
const asKill: Reaches = (event) => {
  const number = int(event, 0);
  if (number >= 0) return process_(0)(event);
  if (!sharesNumbers(event)) return false;
  return number === -1 || !event.kin.hasGroup(-number);
};

/** setpriority(2), ioprio_set(2): `first` is what they call a process; groups and users follow. */
const asPriority =
  (first: number): Reaches =>
  (event) => {
    const kind = int(event, 0) - first;
    const who = int(event, 1);
    if (kind === 0) return process_(1)(event);
    if (kind === 1) return who !== 0 && sharesNumbers(event) && !event.kin.hasGroup(who);
    return true;
  };

const PTRACE_ATTACH = 16;
const PTRACE_SEIZE = 0x4206;

/** Other requests are about one that is traced already. */
const asTracer: Reaches = (event) =>
  [PTRACE_ATTACH, PTRACE_SEIZE].includes(int(event, 0)) && process_(1)(event);

/** A process by its pidfd, or by its folder in /proc, which is as good as one. */
const behindDescriptor: Reaches = (event) => {
  const pid = event.kin.processBehind(int(event, 0));
  return pid === undefined || !isOwnProcess(event, pid);
};

const shared =
  (table: "shm" | "sem" | "msg", by: "key" | "id"): Reaches =>
  (event) =>
    !event.kin.hasShared(table, by, int(event, 0));

const TABLE: readonly (readonly [calls: string, reaches: Reaches])[] = [
  ["kill", asKill],
  ["tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open", process_(0)],
  ["pidfd_send_signal pidfd_getfd process_madvise process_mrelease", behindDescriptor],
  ["ptrace", asTracer],
  ["process_vm_readv process_vm_writev", process_(0)],
  ["kcmp", (event) => process_(0)(event) || process_(1)(event)],
  ["perf_event_open", (event) => int(event, 1) === -1 || process_(1)(event)],
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

/** Undefined for a call that reaches nobody. */
export function reachesOthers(event: CallEvent): boolean | undefined {
  return reachesByCall.get(event.nr)?.(event);
}

export function reachesSomebody(nr: number): boolean {
  return reachesByCall.has(nr);
}
