import { flagTable } from "../../abi/index.js";
import type { CallEvent } from "../../nouns/event.js";
import { deny, type Verdict } from "../../nouns/verdict.js";

/** Judges the target of a call: a process, a thread, a process group, or the process behind a descriptor. */
type Judge = (event: CallEvent) => Verdict | undefined;

const OUTSIDE: Verdict = {
  ...deny("This process does not belong to the agent.", "EPERM"),
  rule: "other-process",
};
const PRIVILEGE: Verdict = {
  ...deny("An agent may not change its user or group.", "EPERM"),
  rule: "privilege",
};

const { PTRACE_ATTACH, PTRACE_SEIZE } = flagTable("ptrace").values;

const int = (event: CallEvent, i: number) => Number(BigInt.asIntN(32, event.argument(i)));

/** Process ids mean the same to us only when the caller shares our PID namespace. */
function sharesNumbers({ process: { pid, innerPid = pid } }: CallEvent): boolean {
  return pid === innerPid;
}

const toProcess =
  (i: number): Judge =>
  (event) =>
    isOwn(event, int(event, i)) ? undefined : OUTSIDE;

function isOwn(event: CallEvent, pid: number): boolean {
  return pid <= 0 || pid === event.process.pid || !sharesNumbers(event) || event.kin.hasProcess(pid);
}

/** kill(2): a negative number is a group. -1 (every process) is refused elsewhere, for every run. */
const toKill: Judge = (event) => {
  const number = int(event, 0);
  if (number >= -1 || !sharesNumbers(event)) return toProcess(0)(event);
  return event.kin.hasGroup(-number) ? undefined : OUTSIDE;
};

/** A descriptor of /proc/PID works like a pidfd. */
const toDescriptor: Judge = (event) => {
  const number = /^\/proc\/(\d+)$/.exec(event.fd?.target ?? "")?.[1];
  return number === undefined || isOwn(event, Number(number)) ? undefined : OUTSIDE;
};

const toTraced: Judge = (event) =>
  [PTRACE_ATTACH, PTRACE_SEIZE].includes(int(event, 0)) ? toProcess(1)(event) : undefined;

/** Every requested id must be the caller's own; -1 leaves an id unchanged. */
function keepsIds(own: (event: CallEvent) => number, count: number): Judge {
  return (event) => {
    const asked = Array.from({ length: count }, (_, i) => int(event, i));
    return asked.every((id) => id === -1 || id === own(event)) ? undefined : PRIVILEGE;
  };
}
const uid = (event: CallEvent) => event.process.uid;
const gid = (event: CallEvent) => event.process.gid;

/** By the name of the system call. */
export const PROCESS_JUDGES: Readonly<Record<string, Judge>> = {
  kill: toKill,
  tkill: toProcess(0),
  tgkill: toProcess(0),
  rt_sigqueueinfo: toProcess(0),
  rt_tgsigqueueinfo: toProcess(0),
  pidfd_open: toProcess(0),
  pidfd_send_signal: toDescriptor,
  ptrace: toTraced,
  process_vm_readv: toProcess(0),
  process_vm_writev: toProcess(0),
  setuid: keepsIds(uid, 1),
  setreuid: keepsIds(uid, 2),
  setresuid: keepsIds(uid, 3),
  setfsuid: keepsIds(uid, 1),
  setgid: keepsIds(gid, 1),
  setregid: keepsIds(gid, 2),
  setresgid: keepsIds(gid, 3),
  setfsgid: keepsIds(gid, 1),
  setgroups: () => PRIVILEGE,
};
