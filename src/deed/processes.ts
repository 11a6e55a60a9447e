import type { CallEvent } from "../event.js";
import { deny, type Verdict } from "../verdict.js";

/** Whom a call is meant for: a process or thread, a process group, or whoever a descriptor stands for. */
type Judge = (event: CallEvent) => Verdict | undefined;

const OUTSIDE: Verdict = {
  ...deny("This process does not belong to the agent.", "EPERM"),
  rule: "other-process",
};
const PRIVILEGE: Verdict = { ...deny("An agent stays the user that it is.", "EPERM"), rule: "privilege" };

const PTRACE_ATTACH = 16;
const PTRACE_SEIZE = 0x4206;

const int = (event: CallEvent, i: number) => Number(BigInt.asIntN(32, event.argument(i)));

/** Numbers mean something to us only where the caller sees the same ones. */
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

/** kill(2): below zero, a group. What is meant for all is refused wherever HERMES runs. */
const toKill: Judge = (event) => {
  const number = int(event, 0);
  if (number >= -1 || !sharesNumbers(event)) return toProcess(0)(event);
  return event.kin.hasGroup(-number) ? undefined : OUTSIDE;
};

/** A folder of /proc is as good as a pidfd. */
const toDescriptor: Judge = (event) => {
  const number = /^\/proc\/(\d+)$/.exec(event.fd?.target ?? "")?.[1];
  return number === undefined || isOwn(event, Number(number)) ? undefined : OUTSIDE;
};

const toTraced: Judge = (event) =>
  [PTRACE_ATTACH, PTRACE_SEIZE].includes(int(event, 0)) ? toProcess(1)(event) : undefined;

/** Every id that is asked for (-1 leaves one as it is) is the one that the caller has. */
function keepsIds(own: (event: CallEvent) => number, count: number): Judge {
  return (event) => {
    const asked = Array.from({ length: count }, (_, i) => int(event, i));
    return asked.every((id) => id === -1 || id === own(event)) ? undefined : PRIVILEGE;
  };
}
const uid = (event: CallEvent) => event.process.uid;
const gid = (event: CallEvent) => event.process.gid;

/** By the name of the call. */
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
