import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { HermesError } from "../../nouns/errors.js";
import { HOME } from "../../nouns/home.js";

/** The native addon's surface (native/addon/addon.c). Negative numbers are -errno throughout. */
export interface Native {
  /** Makes this thread the owner of a session; returns its OS thread id. */
  create(buffer: Uint8Array, fetchPlan: Uint8Array, doors: number, onBehalfMark: number): number;
  /** Installs a verdict cache, so that cached calls do not stop the supervisor: see layout.ts SETTLED. */
  useVerdictCache(table: number): number;
  /** Creates the memory of a verdict cache (native/protocol/verdict-cache.h). Returns its descriptor, or -errno. */
  createVerdictCache(): number;
  closeVerdictCache(table: number): number;
  /** Frees the session's resources. The thread may then own another session. */
  close(): number;
  launch(plan: Uint8Array, launcher: string): number;
  /** step * 4096 + errno of the launch step that failed, 0 for none. */
  launchFailure(): number;
  /** The launcher's report on the fence (kernel/binding/fence-plan.ts). */
  fence(): Buffer;
  /** A byte for each mask of the fence: 1 where the program looked for the file. Complete once the session is over. */
  masksSeen(): Buffer;
  /** Changes the masks of the running program (encodeViewPlan). A byte for each, as masksSeen(), or -errno. */
  changeView(plan: Uint8Array, maskCount: number, launcher: string): Buffer | number;
  /**
   * Finds files by name (native/scan/scan.h). Lists are texts, each with its NUL. `memory` is that of the last scan, or
   * empty. The new memory is empty if the scan is incomplete, or if the last one still serves.
   */
  scanNames(
    roots: Uint8Array,
    skipped: Uint8Array,
    names: Uint8Array,
    memory: Uint8Array,
    maxEntries: number,
    maxMilliseconds: number,
  ): { found: Buffer; unlisted: Buffer; memory: Buffer; folders: number; read: number; complete: number };
  /**
   * Attaches to a running process. `stops` has a bit for each call that is reported where every call stops;
   * `keeper` is a process that keeps a listener for us, or 0. Returns the pid, or -(step * 4096 + errno).
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
  /** Begins to detach from the process. */
  detach(): number;
  /**
   * Reads the note stored with a keeper. Returns its length, or -errno; -EBUSY while another supervisor is
   * attached.
   */
  keptNote(keeper: number, into: Uint8Array): number;
  /** Answers the last event, blocks for the next one and returns its kind. */
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
  /** Interrupts next() after this many milliseconds and then every 2 ms; 0 cancels. */
  deadline(milliseconds: number): number;
  /** True while a notification waits for its answer. */
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
  /** Writes to a tracee's memory, also to its code and other read-only pages. */
  store(tid: number, address: bigint, bytes: Uint8Array): number;
  /** Writes one byte to each address (the bytes of a BigUint64Array). Returns how many were written. */
  patch(tid: number, addresses: Uint8Array, values: Uint8Array): number;
  /**
   * Injects a system call into a stopped tracee that is not inside one: number and six arguments (the bytes
   * of a BigUint64Array), through the syscall instruction at `at`. Returns its result.
   */
  call(tid: number, at: bigint, call: Uint8Array): number;
  /** 1 when two tracees share their memory, else 0. */
  sameMemory(tid: number, other: number): number;
  /** 1 when two tracees share their table of descriptors, else 0. */
  sameDescriptors(tid: number, other: number): number;

  fetch(tid: number, address: bigint, into: Uint8Array): number;
  fetchString(tid: number, address: bigint, into: Uint8Array): number;
  /**
   * Resolves a path in the broker (Stop.broker; 0: in this process). Writes the canonical path to `into` and
   * returns its length, or 0 when the path is canonical already. The last component need not exist. Holds the
   * file open in `pin`, if given.
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
  /** Pins a descriptor or the working directory. Returns its /proc link, or -errno. */
  pinFd(broker: number, tid: number, fd: number, pin: Uint8Array): Buffer | number;
  releasePin(pin: Uint8Array): number;
  /**
   * Reads bytes of the pinned regular file, in the process that holds the pin. Returns how many, or -errno.
   */
  readPin(pin: Uint8Array, offset: number, into: Uint8Array): number;
  /**
   * Reads PIN_FACTS of the pinned file or, with `levels` >= 0, of the folder that many levels above it.
   * Returns 0 or -errno.
   */
  statPin(pin: Uint8Array, levels: number, into: Uint8Array): number;
  /** processBehind() for the descriptor in a pin. */
  processOfPin(pin: Uint8Array): number;
  /**
   * SIGHT bits: in which of these respects a tracee differs from us. Checked once for each program that it
   * executes.
   */
  compareView(tid: number, wanted: number): number;
  fdName(tid: number, fd: number): Buffer | number;
  /**
   * The process that a pidfd or a folder of /proc refers to, in our pid numbers. 0: none, or one that has
   * ended. -ENXIO: a process of a /proc mount that we are not in. Other -errno: unknown. With thread 0, the
   * descriptor is our own.
   */
  processBehind(tid: number, fd: number): number;
  /** SOCK_STREAM and so on, or -errno. */
  socketType(tid: number, fd: number): number;
  socketNames(tid: number, fd: number): Buffer | number;

  /**
   * st_dev and st_ino (two uint64) of the file that a Unix socket is bound to. -EPERM without CAP_NET_ADMIN
   * there.
   */
  boundFile(pid: number, fd: number, into: Uint8Array): number;
  /**
   * Lists the Unix sockets of our network namespace that are bound to a file, three uint32 each: the socket's
   * inode, the file's inode (its lower half) and device, in the kernel's encoding. Returns the full count,
   * which may exceed the room.
   */
  boundSockets(into: Uint8Array): number;

  /** Turns reports of new threads and processes (KIND.born), before their first instruction, on or off. */
  watchBirths(yes: number): number;
  /** The GS base of a stopped thread; -1 when it cannot be read. */
  gsBase(tid: number): number;
  setGsBase(tid: number, address: number): number;
  /** Sizes, seals and maps a tracee's new memfd, shared with the tracee. Returns the memory, or -errno. */
  mapShared(tid: number, fd: number, size: number): ArrayBuffer | number;
  /** The processor's time stamp counter, and seconds since 1970 at the same moment. */
  cycles(into: Float64Array): number;

  /**
   * In a stand-in of the resident process: waits for the next caller. Fills `facts`, six int32: connection, folder, umask, sizes
   * of words, environment and input. Returns these texts; 0 when there was no caller for so many milliseconds; -1 when there
   * will be no more.
   */
  takeRequest(facts: Uint8Array, patience: number): Buffer | 0 | -1;
  /** Answers it, and closes the connection. */
  giveReply(connection: number, status: number, stdout: Uint8Array, stderr: Uint8Array): number;

  /** Interrupts next() of that thread. */
  wake(tid: number): number;
  kill(pid: number, signal: number): number;
  /**
   * Forwards a signal that `sender` sent us, unless the program received it too as a member of our process
   * group.
   */
  forward(launcher: number, signal: number, sender: number): number;
  /** The launcher's pid. */
  launcher(): number;
  /**
   * Replaces our stdin and stdout by /dev/null. Otherwise the reader of a pipe would wait for us after the
   * program closed it.
   */
  releaseStdio(): number;
  /** pipe2(2), non-blocking and close-on-exec: Node has no such call. */
  pipe(): [read: number, write: number];
  /** A new pseudo terminal. Our end is non-blocking; both are close-on-exec. */
  terminal(columns: number, rows: number): [ours: number, theirs: number];
  resizeTerminal(fd: number, columns: number, rows: number): number;
  /** Rows * 65536 + columns. */
  terminalSize(fd: number): number;
  /**
   * Tells the launcher that we stop the session's processes ourselves. The launcher then does not treat a
   * stop as job control.
   */
  holdSession(launcher: number, yes: number): number;
  /**
   * Gives our process group the terminal, sets it to canonical mode and discards pending input. Saves the
   * previous state in `state` (TERMINAL_STATE bytes) for giveTerminal().
   */
  takeTerminal(fd: number, state: Uint8Array): number;
  giveTerminal(fd: number, state: Uint8Array): number;
  /** Passes every byte of the terminal on as it is, both ways; fails in the background. Saves what was before in `state`. */
  rawTerminal(fd: number, state: Uint8Array): number;
  endRawTerminal(fd: number, state: Uint8Array): number;
  /** Writes {number, code, sender} as three int32 to fd for each of these signals. */
  relaySignals(fd: number, signals: Uint8Array): number;
  ignoreSignal(signal: number): number;
  /** Makes this process non-dumpable, so that programs of the same user cannot read its memory. */
  hide(): number;
  exitNow(code: number): never;
  probe(): number;
  /** The calls of NEEDED_CALLS that a sandbox around HERMES refuses, as bits. */
  refusedCalls(): number;
  layout(): Record<string, number>;
}

/** Size of the state that takeTerminal() saves. */
export const TERMINAL_STATE = 128;

/** Flags of resolve(). The resolve flags of an openat2 go above `howShift`. */
export const RESOLVE = { follow: 1, apart: 2, asTracee: 4, parent: 8, howShift: 8 } as const;

/** Flags of attach(). */
export const ATTACH = { stay: 1, everyCall: 2, noNewPrivs: 4, firstReturn: 8 } as const;

/** Bits of sight(): apart: another view of the file system; stranger: other privileges. */
export const VIEW_DIFFERS = { apart: 1, stranger: 2 } as const;

/** What refusedCalls() tries, in the order of its bits. */
export const NEEDED_CALLS = [
  "sendto",
  "sendmsg",
  "recvmsg",
  "setsockopt",
  "shutdown",
  "pidfd_open",
  "process_vm_readv",
  "ptrace",
] as const;

/** Bits of probe(); the Landlock ABI version is in the next byte. */
export const PROBE = { notify: 1, trace: 2, notifySizes: 4, landlockShift: 8 } as const;

/** The folder with the built addon and launcher. */
export const NATIVE_FOLDER = `${HOME}dist/native/`;
export const LAUNCHER = `${NATIVE_FOLDER}hermes-launch`;

let loaded: Native | undefined;

/**
 * Loads the addon once per thread. Throws NATIVE_UNKNOWN on an unsupported platform, NATIVE_MISSING where
 * loading fails.
 */
export function native(): Native {
  if (loaded) return loaded;
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new HermesError("NATIVE_UNKNOWN", { platform: `${process.platform}-${process.arch}` });
  const file = `${NATIVE_FOLDER}hermes.node`;
  if (!existsSync(file)) throw missing("it is not built");
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
