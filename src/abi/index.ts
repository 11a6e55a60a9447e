/** The x86_64 Linux ABI as data: system calls, flags, errors, signals. No I/O; runs on any operating system. */
import type { SyscallName } from "./arguments.generated.js";
import type { SyscallClass } from "./class.js";
import type { Syscall } from "./syscall.js";
import { SYSCALLS } from "./syscalls.generated.js";

export type { SyscallArguments, SyscallName } from "./arguments.generated.js";
export { CLASSES } from "./class.js";
export { controlName, isRoute } from "./control.js";
export { errnoName, errnoNames, errnoNumber, errnoText } from "./errno.js";
export { FLAGS } from "./flags.generated.js";
export { type FlagTable, flagNames, flagTable, formatFlags, parseFlags, sockoptTable } from "./flags.js";
export { CHANGES_INODE } from "./ioctl.js";
export { ON_DESCRIPTORS, ON_SOCKETS, REREAD, type Reread, rereadOf } from "./reread.js";
export { SIGNALLING, signalName, signalNumber } from "./signal.js";
export { suggest } from "./suggest.js";
export type { Argument, ArgumentKind, ReturnKind, Syscall } from "./syscall.js";
export { SYSCALLS } from "./syscalls.generated.js";

let byName: Map<string, Syscall> | undefined;
let byNumber: Map<number, Syscall> | undefined;
let byClass: Map<string, Syscall[]> | undefined;

/** By the kernel's name in any case: "openat", "OpenAt", "CONNECT". */
export function syscallByName(name: SyscallName): Syscall;
export function syscallByName(name: string): Syscall | undefined;
export function syscallByName(name: string): Syscall | undefined {
  byName ??= new Map(SYSCALLS.map((row) => [row.name, row]));
  return byName.get(name) ?? byName.get(name.toLowerCase());
}

export function syscallByNumber(nr: number): Syscall | undefined {
  byNumber ??= new Map(SYSCALLS.map((row) => [row.nr, row]));
  return byNumber.get(nr);
}

/** The calls of a class in the order of their numbers; none when there is no such class. */
export function syscallsOfClass(cls: SyscallClass | (string & {})): readonly Syscall[] {
  byClass ??= groupByClass();
  return byClass.get(cls.toLowerCase()) ?? [];
}

function groupByClass(): Map<string, Syscall[]> {
  const groups = new Map<string, Syscall[]>();
  for (const row of SYSCALLS) {
    for (const cls of row.classes) {
      const group = groups.get(cls);
      if (group) group.push(row);
      else groups.set(cls, [row]);
    }
  }
  return groups;
}
