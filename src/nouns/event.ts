import type { SyscallArguments, SyscallName } from "../abi/arguments.generated.js";
import type { Address } from "./address.js";
import type { Inside, MemoryMap } from "./inside.js";

export type { CallStack, Frame, MemoryMap, ProgramMemory, Registers } from "./inside.js";

/**
 * A system call before or after it happens: an immutable fact that waits for a verdict. Each field is read
 * from the tracee on first use, so a policy pays only for what it reads. Read fields only while the event is
 * being decided. Registers and stacks are available at the trace door only.
 */
export interface CallEvent<Name extends SyscallName = SyscallName> extends Inside {
  readonly kind: "syscall" | "return";
  readonly name: Name;
  readonly nr: number;
  readonly classes: readonly string[];
  /** The thread that made the call. */
  readonly tid: number;
  readonly process: ProcessInfo;
  /** Seconds since 1970. */
  readonly time: number;
  readonly door: "notify" | "trace";

  /** Every argument by its kernel name, decoded by its kind. */
  readonly args: SyscallArguments[Name];
  /** The i-th argument, as the register holds it. */
  argument(i: number): bigint;

  /**
   * The first path, canonical: absolute, with links and `..` resolved as the kernel will resolve them.
   * Undefined when the call takes no path or the pointer is NULL. The path as the program wrote it is
   * `requested`.
   */
  readonly path: string | undefined;
  readonly requested: string | undefined;
  /** All paths of the call in order: rename and link have two. */
  readonly paths: readonly PathArgument[];
  /**
   * Resolves another path as if the program had passed it in this argument ("" stands for the socket's
   * address). A redirected call is made on that file. Absent where there is no kernel to ask, as in a
   * simulation.
   */
  reach?(argument: string, path: Uint8Array): string;
  /** The first descriptor, and what it refers to. */
  readonly fd: Descriptor | undefined;
  /** The address that the call carries (connect, bind, sendto, sendmsg …). */
  readonly address: Address | undefined;
  /** All addresses of the call: sendmmsg may carry many. */
  readonly addresses: readonly Address[];
  /** The control messages of a sendmsg or sendmmsg, by the kernel's names: `SCM_RIGHTS`, `IP_RETOPTS`. */
  readonly controls: readonly string[];
  /**
   * The processes that a signal reaches (kill, tgkill, pidfd_send_signal, F_SETOWN and the like). A process
   * group has several.
   */
  readonly receivers: readonly Receiver[];
  /** The signal that such a call sends: `SIGTERM`. */
  readonly signal: string | undefined;
  readonly argv: readonly string[] | undefined;
  readonly env: readonly string[] | undefined;
  /** Names of the flags argument: `e.flags.includes("O_CREAT")`. */
  readonly flags: readonly string[];
  /** The bytes to be written; on return the bytes that were read. Cut at a limit. */
  readonly data: Buffer | undefined;
  /** Answers whether processes, sockets and System V objects belong to this run. */
  readonly kin: Kin;
  /** How often a field has read memory that the arguments point at. Undefined where this is not counted. */
  readonly looks?: number;
}

/** Lookups, made on demand, that tell whether the targets of a call belong to the same run. */
export interface Kin {
  /**
   * True when every listener at an address of this call belongs to the run, or when nothing listens there.
   */
  listensAt(address: Address): boolean;
  /** Process ids are those that the supervisor sees. */
  hasProcess(pid: number): boolean;
  /** True when all members of a process group belong to the run. */
  hasGroup(group: number): boolean;
  /** The process that a descriptor of the caller refers to: a pidfd, or a folder in /proc. */
  processBehind(fd: number): number | undefined;
  /**
   * True when a System V object belongs to the run (it was created after the run began), or does not exist.
   */
  hasShared(table: "shm" | "sem" | "msg", by: "key" | "id", number: number): boolean;
}

/** For events of the past or of a simulation: no process is known to belong to the run. */
export const NO_KIN: Kin = {
  listensAt: () => false,
  hasProcess: () => false,
  hasGroup: () => false,
  processBehind: () => undefined,
  hasShared: () => false,
};

export interface ReturnEvent<Name extends SyscallName = SyscallName> extends CallEvent<Name> {
  readonly kind: "return";
  /** The kernel's return value: negative values are -errno. */
  readonly result: number;
  readonly resultExact: bigint;
  /** The error's name, when the call failed. */
  readonly errno: string | undefined;
}

export interface PathArgument {
  readonly argument: string;
  readonly requested: string;
  /**
   * Canonical. `nameless:pipe:[1]` is an object without a name that was reached through another process:
   * restricting rules apply to it.
   */
  readonly path: string;
  /** True for memory of the program that has no name (memfd_create(2)): rules on files do not apply to it. */
  isMemory?(): boolean;
  /**
   * True when this run created the folder `levels` above the folder that holds the file. For a file that the
   * call does not name inside a folder, true when this run created the file. False where the file system
   * records no birth time.
   */
  madeHere?(levels: number): boolean;
}

/** native/tracee/path.c writes this prefix. */
export function isNameless(path: string): boolean {
  return path.startsWith("nameless:");
}

/**
 * own: the caller itself. session: a process of this run, the caller included. outside: a process of another
 * run. group: a member of the caller's process group.
 */
export type ReceiverKind = "own" | "session" | "outside" | "parent" | "group";

/** A process that a signal is sent to. A process that cannot be found is reported as unknown. */
export interface Receiver {
  readonly pid: number | undefined;
  readonly is: readonly ReceiverKind[];
}

export interface Descriptor {
  readonly number: number;
  /** `/a/path`, `pipe:[123]`, `socket:[456]`, `anon_inode:[eventfd]`; undefined when it is not open. */
  readonly target: string | undefined;
  readonly kind: "file" | "pipe" | "socket" | "anonymous" | "closed";
  /** The number is not open. A descriptor of kind `closed` may also be one that we cannot look at. */
  readonly isMissing?: boolean;
  /** Memory of the program that has no name (memfd_create(2)): rules on files do not apply to it. */
  readonly isMemory?: boolean;
  /**
   * For a pidfd or a folder of /proc: the process that it refers to. 0: none. -1: a process in a pid
   * namespace that we cannot see into. Undefined: not known.
   */
  readonly process?: number | undefined;
  /** For sockets. */
  readonly local: Address | undefined;
  readonly peer: Address | undefined;
}

export interface ProcessInfo {
  readonly pid: number;
  readonly parentPid: number;
  readonly parent: ProcessInfo | undefined;
  /** Its child processes. Empty in a replay: a record does not hold them. */
  readonly children: readonly ProcessInfo[];
  readonly exe: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly uid: number;
  readonly gid: number;
  /** Clock ticks since boot. Together with the pid it identifies a process uniquely. */
  readonly startTime: number;
  /**
   * How far below the run's program: 0 is the program itself, 1 its children. Undefined for orphans, whose line no longer
   * leads to the program.
   */
  readonly depth?: number | undefined;
  /** The file that the run's program executes now. */
  readonly program?: string;
  readonly threads: readonly number[];
  /**
   * The process's own view of its pid. It differs from ours inside a pid namespace, and so do the ids of its
   * threads.
   */
  readonly innerPid?: number;
  readonly innerThreads?: readonly number[];
  readonly fds: readonly Descriptor[];
  readonly maps: readonly MemoryMap[];
}

/**
 * A call of a function inside the program, stopped before its first instruction, or the function's return. As
 * with system calls, each field is read on first use, and only while the event is being decided.
 */
export interface FunctionEvent extends Inside {
  readonly kind: "function" | "function-return";
  /** `libc!getenv`; `app!0x1234` when it has no symbol. */
  readonly name: string;
  /** The file that holds it, without folder and version: `libc`, `libssl`, `python3.11`. */
  readonly module: string;
  readonly symbol: string | undefined;
  /** Its address in the program's memory. */
  readonly address: bigint;
  readonly tid: number;
  readonly process: ProcessInfo;
  /** Seconds since 1970. */
  readonly time: number;
  readonly door: "trace";

  /**
   * The i-th integer or pointer argument (System V ABI), counted from 0; from the seventh on they are read
   * from the stack. On return: the value at the call.
   */
  argument(i: number): bigint;
  /** The i-th floating point argument, from 0 to 7. */
  float(i: number): number;
  /** The text that the i-th argument points to, bounded; undefined when it is NULL or cannot be read. */
  string(i: number): string | undefined;
  /** Arguments by name and decoded, where the function's prototype is known; by number otherwise. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The place in the code that called it. */
  readonly caller: CodePlace;
}

export interface FunctionReturnEvent extends FunctionEvent {
  readonly kind: "function-return";
  /** The return value as a signed number: exact for counts, errors and pointers. */
  readonly result: number;
  readonly resultExact: bigint;
  /** The return value in a floating point register. */
  readonly resultFloat: number;
  /** The text that the result points to. */
  resultString(): string | undefined;
  /** The return value decoded by the function's prototype, where one is known. */
  readonly value: unknown;
}

/** A place in the program's code. */
export interface CodePlace {
  readonly address: bigint;
  /** As in FunctionEvent. Undefined for code without a file, such as JIT code. */
  readonly module: string | undefined;
  /** From the beginning of the module. */
  readonly offset: number | undefined;
  readonly symbol: string | undefined;
}

export interface CpuidResult {
  readonly eax: number;
  readonly ebx: number;
  readonly ecx: number;
  readonly edx: number;
}

/** An instruction that the program is about to execute. */
export interface InstructionEvent extends Inside {
  readonly kind: "instruction";
  /** `rdtsc`, `rdtscp`, `cpuid`, or a pattern as the policy wrote it. */
  readonly name: string;
  /** Of rdtsc and rdtscp: what the counter shows. */
  readonly value: bigint | undefined;
  /** For cpuid: the leaf that the program asks for. */
  readonly leaf: number | undefined;
  readonly subleaf: number | undefined;
  readonly cpuid: CpuidResult | undefined;
  readonly address: bigint;
  readonly module: string | undefined;
  readonly tid: number;
  readonly process: ProcessInfo;
  readonly time: number;
  readonly door: "trace";
}

/** A file that is held open while a call on it is decided. */
export interface HeldFile {
  /**
   * As many bytes as the file has and the supervisor may read; none unless it is a regular file. "busy" means
   * that another process holds a lease on the file: try again later.
   */
  read(offset: number, length: number): Buffer | "busy";
  readAll(): Buffer;
  /** The device number, when the file is a character device. */
  readonly device: number | undefined;
}
