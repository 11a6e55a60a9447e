/** What the kernel does with a call. */
export type FilterAction =
  | { do: "allow" }
  | { do: "errno"; errno: number }
  | { do: "kill" }
  | { do: "notify" }
  | { do: "trace"; cookie?: number }
  | { do: "log" };

/** SECCOMP_RET_* of linux/seccomp.h: the action in the high half, its data in the low half. */
export const RET = {
  KILL_PROCESS: 0x80000000,
  KILL_THREAD: 0x00000000,
  TRAP: 0x00030000,
  ERRNO: 0x00050000,
  USER_NOTIF: 0x7fc00000,
  TRACE: 0x7ff00000,
  LOG: 0x7ffc0000,
  ALLOW: 0x7fff0000,
} as const;

/** The kernel clamps larger values to this one (MAX_ERRNO), so they could not mean what they say. */
export const MAX_ERRNO = 4095;
export const MAX_COOKIE = 0xffff;

/** The 32-bit value a filter returns to ask for `action`. */
export function returnValue(action: FilterAction): number {
  switch (action.do) {
    case "allow":
      return RET.ALLOW;
    case "errno":
      return RET.ERRNO + action.errno;
    case "kill":
      return RET.KILL_PROCESS;
    case "notify":
      return RET.USER_NOTIF;
    case "trace":
      return RET.TRACE + (action.cookie ?? 0);
    case "log":
      return RET.LOG;
  }
}

/** A return value in words: `errno 13`, `trace 7`, `allow`. */
export function describeReturn(value: number): string {
  const data = value & 0xffff;
  switch ((value & 0xffff0000) >>> 0) {
    case RET.ALLOW:
      return "allow";
    case RET.ERRNO:
      return `errno ${data}`;
    case RET.KILL_PROCESS:
      return "kill";
    case RET.KILL_THREAD:
      return "kill thread";
    case RET.TRAP:
      return `trap ${data}`;
    case RET.USER_NOTIF:
      return "notify";
    case RET.TRACE:
      return `trace ${data}`;
    case RET.LOG:
      return "log";
    default:
      return `unknown 0x${(value >>> 0).toString(16)}`;
  }
}
