import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { HermesError } from "../errors.js";
import { HOME } from "../home.js";

/** The native addon's surface (native/addon.c). Negative numbers are -errno throughout. */
export interface Native {
  /** Makes this thread the owner of a session; returns its OS thread id. */
  create(buffer: Uint8Array, fetchPlan: Uint8Array, doors: number, actMark: number): number;
  /** Answers that stand, for calls that then need not come here: see layout.ts SETTLED. */
  settle(table: number): number;
  /** A descriptor of the memory of a new table of answers that stand (native/settled.h), or -errno. */
  table(): number;
  closeTable(table: number): number;
  /** Gives back what the session had: the thread may own another. */
  close(): number;
  launch(plan: Uint8Array, launcher: string): number;
  /** step * 4096 + errno of the launch step that failed, 0 for none. */
  launchFailure(): number;
  /** What came of the fence (kernel/fence-plan.ts). */
  fence(): Buffer;
  /**
   * Attaches to a process that runs already. `stops` has a bit for each call that is reported where every call stops;
   * `keeper` is one that has a listener for us, or 0. Returns the pid, or -(step * 4096 + errno).
   */
  attach(
    pid: number,
    flags: number,
    filter: Uint8Array,
    stops: Uint8Array,
    note: Uint8Array,
    keeper: number,
    launcher: string,
  ): number;
  /** Begins to leave the process that was attached to. */
  detach(): number;
  /** The note that was left with a keeper: its length, or -errno; -EBUSY while somebody is attached. */
  keptNote(keeper: number, into: Uint8Array): number;
  /** Answers the last event, blocks for the next, returns its kind. */
  next(): number;
  resume(
    door: number,
    kind: number,
    tid: number,
    id: bigint,
    result: number,
    nr: number,
    args: Uint8Array,
  ): number;
  /** Interrupts next() after so many milliseconds and then every 2 ms; 0 stops that. */
  deadline(milliseconds: number): number;
  /** Whether a notification still waits for its answer. */
  waits(id: bigint): boolean;
  /** Kills every process of the session. */
  endSession(): number;

  /** Bit n - 1: signal n becomes an event (KIND.signal) before the program gets it. */
  watchSignals(mask: bigint): number;
  /** struct user_regs_struct of a stopped tracee (layout.ts REGISTER), as bytes. Only at the trace door. */
  registers(tid: number, into: Uint8Array): number;
  setRegisters(tid: number, from: Uint8Array): number;
  /** struct user_fpregs_struct, 512 bytes: xmm registers of 16 bytes each from 160 on. */
  floats(tid: number, into: Uint8Array): number;
  setFloats(tid: number, from: Uint8Array): number;
  /** What cpuid says here: eax, ebx, ecx and edx, 16 bytes. */
  cpuid(leaf: number, subleaf: number, into: Uint8Array): number;
  /** Writes to a tracee's memory, also where itself it may only read: code. */
  store(tid: number, address: bigint, bytes: Uint8Array): number;
  /** One byte at each address (the bytes of a BigUint64Array); how many were written. */
  patch(tid: number, addresses: Uint8Array, values: Uint8Array): number;
  /**
   * Makes a stopped tracee, which is not inside a system call, make one: number and six arguments (the bytes of a
   * BigUint64Array), from the syscall instruction at `at`. Its result.
   */
  call(tid: number, at: bigint, call: Uint8Array): number;
  /** 1 when two tracees share their memory, else 0. */
  sameMemory(tid: number, other: number): number;
  /** 1 when two tracees share their table of descriptors, else 0. */
  sameDescriptors(tid: number, other: number): number;

  fetch(tid: number, address: bigint, into: Uint8Array): number;
  fetchString(tid: number, address: bigint, into: Uint8Array): number;
  /**
   * Asks the broker (Stop.broker; 0: this process does it). The canonical path goes to `into`; returns its length, or 0
   * when the path is canonical as it is. Its last component need not exist. What it reaches is held open in `pin`, if
   * there is one.
   */
  resolve(
    broker: number,
    tid: number,
    dirfd: number,
    path: Uint8Array,
    flags: number,
    into: Uint8Array,
    pin?: Uint8Array,
  ): number;
  /** Holds a descriptor, or the working directory; returns what /proc says it is, or -errno. */
  pinFd(broker: number, tid: number, fd: number, pin: Uint8Array): Buffer | number;
  releasePin(pin: Uint8Array): number;
  /** Bytes of the regular file that a pin holds, read by whoever holds it; how many, or -errno. */
  readPin(pin: Uint8Array, offset: number, into: Uint8Array): number;
  /** PIN_FACTS of the file that a pin holds, or with `levels` >= 0 of the folder above it, so many levels up; 0 or -errno. */
  statPin(pin: Uint8Array, levels: number, into: Uint8Array): number;
  /** processBehind() of the descriptor that a pin holds. */
  processOfPin(pin: Uint8Array): number;
  /** SIGHT bits: in which of these respects a tracee differs from us. Looked at once for each program that it runs. */
  sight(tid: number, wanted: number): number;
  fdName(tid: number, fd: number): Buffer | number;
  /**
   * The process that a pidfd, or a folder of /proc, stands for, in our numbers. 0: none, or one that has ended; -ENXIO: one
   * of a /proc that we are not in; else -errno, when nobody knows. Thread 0: the descriptor is our own.
   */
  processBehind(tid: number, fd: number): number;
  /** SOCK_STREAM and so on, or -errno. */
  socketType(tid: number, fd: number): number;
  socketNames(tid: number, fd: number): Buffer | number;

  /** st_dev and st_ino (two uint64) of the file that a Unix socket is bound to. -EPERM without CAP_NET_ADMIN there. */
  boundFile(pid: number, fd: number, into: Uint8Array): number;
  /**
   * Every Unix socket of our network namespace that is bound to a file, three uint32 each: the socket's inode, the file's
   * inode (its lower half) and device, as the kernel numbers them. Returns how many there are, also those without room.
   */
  boundSockets(into: Uint8Array): number;

  /** Whether KIND.born is reported: a new thread or process, before its first instruction. */
  watchBirths(yes: number): number;
  /** Of a stopped thread; -1 when it cannot be had. */
  gsBase(tid: number): number;
  setGsBase(tid: number, address: number): number;
  /** A tracee's new memfd, made so large and sealed, shared with it; or -errno. */
  mapShared(tid: number, fd: number, size: number): ArrayBuffer | number;
  /** The processor's time stamp counter, and seconds since 1970 at the same moment. */
  cycles(into: Float64Array): number;

  /** Interrupts next() of that thread. */
  wake(tid: number): number;
  kill(pid: number, signal: number): number;
  /** Passes on a signal that `sender` sent us, unless the program got it too, as a member of our process group. */
  forward(launcher: number, signal: number, sender: number): number;
  /** The launcher's pid. */
  launcher(): number;
  /** Puts /dev/null in the place of our stdin and stdout: whoever waits for the program to close them must see it. */
  releaseStdio(): number;
  /** pipe2(2), non-blocking and close-on-exec: Node has none of its own. */
  pipe(): [read: number, write: number];
  /** A new pseudo terminal. Our end is non-blocking; both are close-on-exec. */
  terminal(columns: number, rows: number): [ours: number, theirs: number];
  resizeTerminal(fd: number, columns: number, rows: number): number;
  /** Rows * 65536 + columns. */
  terminalSize(fd: number): number;
  /** Whether we stop the session's processes ourselves: the launcher then takes no stop for job control. */
  holdSession(launcher: number, yes: number): number;
  /**
   * Our group gets the terminal, which takes plain lines from now on; what was typed before is dropped. How it was is left
   * in `state` (TERMINAL_STATE bytes) for giveTerminal().
   */
  takeTerminal(fd: number, state: Uint8Array): number;
  giveTerminal(fd: number, state: Uint8Array): number;
  /** Writes {number, code, sender} as three int32 to fd for each of these signals. */
  relaySignals(fd: number, signals: Uint8Array): number;
  ignoreSignal(signal: number): number;
  /** Keeps programs of the same user from looking into this process. */
  hide(): number;
  exitNow(code: number): never;
  probe(): number;
  layout(): Record<string, number>;
}

/** Room for what takeTerminal() saves. */
export const TERMINAL_STATE = 128;

/** Flags of resolve(). The restrictions of an openat2 go above `howShift`. */
export const RESOLVE = { follow: 1, apart: 2, asTracee: 4, parent: 8, howShift: 8 } as const;

/** Flags of attach(). */
export const ATTACH = { stay: 1, everyCall: 2, noNewPrivs: 4, firstReturn: 8 } as const;

/** Bits of sight(): another view of files, other rights. */
export const SIGHT = { apart: 1, stranger: 2 } as const;

/** Bits of probe(); the Landlock ABI version is in the next byte. */
export const PROBE = { notify: 1, trace: 2, notifySizes: 4, landlockShift: 8 } as const;

/** The folder with the built addon and launcher. */
export const NATIVE_FOLDER = `${HOME}dist/native/`;

let loaded: Native | undefined;

/** Loads the addon once per thread. Throws NATIVE_UNKNOWN where there is none, NATIVE_MISSING where it cannot be loaded. */
export function native(): Native {
  if (loaded) return loaded;
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new HermesError("NATIVE_UNKNOWN", { platform: `${process.platform}-${process.arch}` });
  const file = `${NATIVE_FOLDER}hermes.node`;
  if (!existsSync(file)) throw missing("it was not built");
  try {
    loaded = createRequire(import.meta.url)(file) as Native;
  } catch (cause) {
    throw missing((cause as Error).message, cause);
  }
  return loaded;
}

function missing(why: string, cause?: unknown): HermesError {
  return new HermesError("NATIVE_MISSING", { why, script: `${HOME}scripts/native.mjs` }, { cause });
}
