import { syscallByName } from "../abi/index.js";
import { errnoValue, flagsValue } from "../abi/named.js";
import type { ConstantRule, ConstantTest } from "../policy/policy.js";

export const eq = (arg: number, value: bigint | number): ConstantTest => ({
  arg,
  width: 32,
  op: "eq",
  value: BigInt(value),
});
export const ne = (arg: number, value: bigint | number): ConstantTest => ({ ...eq(arg, value), op: "ne" });

/** _IO(0xAA, 0x00) of linux/userfaultfd.h. */
const USERFAULTFD_IOC_NEW = 0xaa00;
const SET_FILTER = flagsValue("seccomp", "SECCOMP_SET_MODE_FILTER");
const NEW_LISTENER = BigInt(flagsValue("seccomp_filter", "SECCOMP_FILTER_FLAG_NEW_LISTENER"));
const EPERM = errnoValue("EPERM");

/** _IO(0xFF, n): PIDFD_GET_MNT_NAMESPACE and so on. */
const PIDFD_GET_NAMESPACE: ConstantTest = {
  arg: 1,
  width: 32,
  op: "masked",
  mask: 0xffffff00n,
  value: 0xff00n,
};

/** Refused in the kernel's filter: programs do not need them, and they cannot be decided without a race. */
const ROWS: readonly { call: string; tests: readonly ConstantTest[]; errno: number; why: string }[] = [
  {
    call: "seccomp",
    tests: [eq(0, SET_FILTER), { arg: 1, width: 64, op: "masked", mask: NEW_LISTENER, value: NEW_LISTENER }],
    errno: errnoValue("EBUSY"), // as if there were one already
    why: "A listener of the program's own would take precedence over the trace door.",
  },
  {
    call: "userfaultfd",
    tests: [],
    errno: EPERM,
    why: "A page that is never delivered blocks every process that reads it.",
  },
  {
    call: "ioctl",
    tests: [eq(1, USERFAULTFD_IOC_NEW)],
    errno: EPERM,
    why: "USERFAULTFD_IOC_NEW, as userfaultfd.",
  },
  {
    call: "ioctl",
    tests: [eq(1, flagsValue("ioctl", "FIOSETOWN"))],
    errno: EPERM,
    why: "FIOSETOWN names the receiver of a signal in memory.",
  },
  {
    call: "ioctl",
    tests: [eq(1, flagsValue("ioctl", "SIOCSPGRP"))],
    errno: EPERM,
    why: "SIOCSPGRP, as FIOSETOWN.",
  },
  {
    call: "fcntl",
    tests: [eq(1, flagsValue("fcntl", "F_SETOWN_EX"))],
    errno: EPERM,
    why: "F_SETOWN_EX, as FIOSETOWN.",
  },
  {
    call: "ioctl",
    tests: [PIDFD_GET_NAMESPACE],
    errno: errnoValue("ENOTTY"), // as before Linux 6.11
    why: "A pidfd, from any source, gives access to the namespaces of its process.",
  },
];

export const ALWAYS_REFUSED: readonly ConstantRule[] = ROWS.map(({ call, tests, errno, why }) => ({
  id: "self-defence",
  nr: syscallByName(call)!.nr,
  tests,
  action: "deny",
  errno,
  reason: why,
}));
