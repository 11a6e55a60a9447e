import type { SyscallArguments, SyscallName } from "./abi/arguments.generated.js";
import type { Address } from "./address.js";
import type { Inside, MemoryMap } from "./inside.js";

export type { CallStack, Frame, MemoryMap, ProgramMemory, Registers, StackEnd } from "./inside.js";

/**
 * What a program asks for, or has done: an immutable fact that awaits a verdict. Fields are read from the
 * tracee when they are looked at, so a policy pays for what it uses; they may only be read while the event is
 * being decided. Registers and stacks are seen at the trace door only.
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
  /** The i-th argument as the register holds it. */
  argument(i: number): bigint;

  /**
   * The first path, made canonical: absolute, links and `..` resolved as the kernel will. Undefined when the call
   * takes no path, or it is NULL. The path that was asked for is `requested`.
   */
  readonly path: string | undefined;
  readonly requested: string | undefined;
  /** All paths of the call in order: rename and link have two. */
  readonly paths: readonly PathArgument[];
  /**
   * Where another path would lead in the place of this argument (of the socket's, for ""), as `paths` tell it. That is what
   * the call is then made on, if it is. Absent where there is no kernel to ask.
   */
  reach?(argument: string, path: Uint8Array): string;
  /** The first descriptor, and what it refers to. */
  readonly fd: Descriptor | undefined;
  /** The address that the call carries (connect, bind, sendto, sendmsg …). */
  readonly address: Address | undefined;
  /** All of them: sendmmsg may carry many. */
  readonly addresses: readonly Address[];
  /** The control messages of a sendmsg or sendmmsg, by the kernel's names: `SCM_RIGHTS`, `IP_RETOPTS`. */
  readonly controls: readonly string[];
  /** Whom a signal reaches (kill and its kin, pidfd_send_signal, F_SETOWN): several, where it goes to a group. */
  readonly receivers: readonly Receiver[];
  /** The signal that such a call sends: `SIGTERM`. */
  readonly signal: string | undefined;
  readonly argv: readonly string[] | undefined;
  readonly env: readonly string[] | undefined;
  /** Names of the flags argument: `e.flags.includes("O_CREAT")`. */
  readonly flags: readonly string[];
  /** The bytes to be written; on return the bytes that were read. Cut at a limit. */
  readonly data: Buffer | undefined;
  /** Who belongs to the same run. */
  readonly kin: Kin;
  /** How often somebody has looked at what its arguments point at, where that is counted. */
  readonly looks?: number;
}

/** What the kernel says, when somebody asks, of those whom a call may reach. */
export interface Kin {
  /** Whether all who could be reached at an address of this call belong to the run, or nobody is there. */
  listensAt(address: Address): boolean;
  /** Numbers are those that HERMES sees. */
  hasProcess(pid: number): boolean;
  /** Whether all members of a process group do. */
  hasGroup(group: number): boolean;
  /** The process that a descriptor of the caller's stands for: a pidfd, or a folder in /proc. */
  processBehind(fd: number): number | undefined;
  /** Whether a System V object belongs to the run, or there is none: it was not there when the run began. */
  hasShared(table: "shm" | "sem" | "msg", by: "key" | "id", number: number): boolean;
}

/** Of events that are no longer, or never were: nobody is known to belong to the run. */
export const NO_KIN: Kin = {
  listensAt: () => false,
  hasProcess: () => false,
  hasGroup: () => false,
  processBehind: () => undefined,
  hasShared: () => false,
};

export interface ReturnEvent<Name extends SyscallName = SyscallName> extends CallEvent<Name> {
  readonly kind: "return";
  /** What the kernel answered: negative values are -errno. */
  readonly result: number;
  readonly resultExact: bigint;
  /** The error's name, when there was one. */
  readonly errno: string | undefined;
}

export interface PathArgument {
  readonly argument: string;
  readonly requested: string;
  /** Canonical. `nameless:pipe:[1]`: without a name, and reached through another process: rules that restrict hold. */
  readonly path: string;
  /**
   * Whether this run made the folder so many levels above the one that the file lies in, or, of a file that the call
   * does not name in a folder, the file. What has no time of birth was not.
   */
  madeHere?(levels: number): boolean;
}

/** native/path.c writes the word. */
export function isNameless(path: string): boolean {
  return path.startsWith("nameless:");
}

/** own: the caller itself; session: of this run, the caller included; outside: not of this run; group: of its process group. */
export type ReceiverKind = "own" | "session" | "outside" | "parent" | "group";

/** A process that a signal is meant for. One that cannot be found is nothing that is known. */
export interface Receiver {
  readonly pid: number | undefined;
  readonly is: readonly ReceiverKind[];
}

export interface Descriptor {
  readonly number: number;
  /** `/a/path`, `pipe:[123]`, `socket:[456]`, `anon_inode:[eventfd]`; undefined when it is not open. */
  readonly target: string | undefined;
  readonly kind: "file" | "pipe" | "socket" | "anonymous" | "closed";
  /**
   * Of a pidfd, or a folder of /proc: the process that it stands for. 0 for none, -1 for one of a pid namespace that we do
   * not see into, undefined when that is unknown.
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
  readonly exe: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly uid: number;
  readonly gid: number;
  /** Clock ticks since boot: with the pid it names a process for ever. */
  readonly startTime: number;
  readonly threads: readonly number[];
  /** Its number, and those of its threads, as it knows them itself: others than ours in a pid namespace. */
  readonly innerPid?: number;
  readonly innerThreads?: readonly number[];
  readonly fds: readonly Descriptor[];
  readonly maps: readonly MemoryMap[];
}

/**
 * A call of a function inside the program, seen before its first instruction, or its return. As with system calls,
 * fields are read when they are looked at, and only while the event is being decided.
 */
export interface FunctionEvent extends Inside {
  readonly kind: "function" | "function-return";
  /** `libc!getenv`; `app!0x1234` when it has no symbol. */
  readonly name: string;
  /** The file it lies in, without folder and version: `libc`, `libssl`, `python3.11`. */
  readonly module: string;
  readonly symbol: string | undefined;
  /** Where it lies in the program's memory. */
  readonly address: bigint;
  readonly tid: number;
  readonly process: ProcessInfo;
  /** Seconds since 1970. */
  readonly time: number;
  readonly door: "trace";

  /** The i-th integer or pointer argument (System V ABI), from 0; beyond six from the stack. On return: as it was called. */
  argument(i: number): bigint;
  /** The i-th floating point argument, from 0 to 7. */
  float(i: number): number;
  /** The text that the i-th argument points to, bounded; undefined when it is NULL or cannot be read. */
  string(i: number): string | undefined;
  /** Arguments by name and decoded, where the function's prototype is known; by number otherwise. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Who called it. */
  readonly caller: CodePlace;
}

export interface FunctionReturnEvent extends FunctionEvent {
  readonly kind: "function-return";
  /** What it returned, as a signed number: exact for counts, errors and pointers. */
  readonly result: number;
  readonly resultExact: bigint;
  /** What it returned in a floating point register. */
  readonly resultFloat: number;
  /** The text that the result points to. */
  resultString(): string | undefined;
  /** The result by the function's prototype, where one is known. */
  readonly value: unknown;
}

/** A place in the program's code. */
export interface CodePlace {
  readonly address: bigint;
  /** As in FunctionEvent; undefined for code that no file has, such as a JIT's. */
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
  /** Of cpuid: what is asked for, and what the machine says. */
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
  /** As many bytes as are there and may be read, none of what is no regular file; "busy": not now, somebody has a lease on it. */
  read(offset: number, length: number): Buffer | "busy";
  readAll(): Buffer;
  /** The number of the device that it is, if it is a character device. */
  readonly device: number | undefined;
}
