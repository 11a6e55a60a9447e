import { statSync } from "node:fs";
import { Elf } from "../../binary/elf/elf.js";
import { native } from "../binding/native.js";
import { type MapEntry, readMaps } from "./maps.js";

/** Beyond this many open files, the oldest are closed. */
const MOST_FILES = 256;
/** Copy at most this much of a deleted library from memory. */
const MOST_COPIED = 64 * 1024 * 1024;

/**
 * The files behind mappings, each opened once for all processes. A file is identified by device, inode and
 * change time, never by name: the name may refer to another file by now.
 */
export class ModuleFiles {
  readonly #files = new Map<string, Elf | null>();
  #vdso: Elf | null | undefined;

  /** The file of a module's mappings; undefined when it is no readable ELF file. */
  open(pid: number, maps: readonly MapEntry[]): Elf | undefined {
    const [first] = maps;
    if (!first) return undefined;
    if (first.path === "[vdso]") {
      this.#vdso ??= ownVdso();
      return this.#vdso ?? undefined;
    }
    const file = reallyMapped(pid, first);
    return file
      ? this.#once(file.key, () => Elf.open(file.path))
      : this.#once(`${pid} ${first.device} ${first.inode} ${first.from}`, () => fromMemory(pid, maps));
  }

  #once(key: string, open: () => Elf): Elf | undefined {
    let elf = this.#files.get(key);
    if (elf === undefined) {
      elf = attempt(open);
      this.#files.set(key, elf);
      if (this.#files.size > MOST_FILES) this.#forgetOldest();
    }
    return elf ?? undefined;
  }

  #forgetOldest(): void {
    const [key, elf] = this.#files.entries().next().value!;
    elf?.close();
    this.#files.delete(key);
  }

  close(): void {
    for (const elf of this.#files.values()) elf?.close();
    this.#files.clear();
  }
}

/** A file that is no ELF file, or that we may not read, tells us nothing. */
function attempt(open: () => Elf): Elf | null {
  try {
    return open();
  } catch {
    return null;
  }
}

/**
 * A path that leads to the mapped file itself. map_files does even for a deleted file, but only with
 * CAP_SYS_ADMIN. Otherwise the name in the process's own view, if it still refers to the same file.
 */
function reallyMapped(pid: number, entry: MapEntry): { path: string; key: string } | undefined {
  const range = `${entry.from.toString(16)}-${entry.to.toString(16)}`;
  const named = `/proc/${pid}/root${entry.path}`;
  for (const path of [`/proc/${pid}/map_files/${range}`, named]) {
    try {
      const stat = statSync(path, { bigint: true });
      if (!stat.isFile()) continue;
      if (path === named && (Number(stat.ino) !== entry.inode || deviceName(stat.dev) !== entry.device))
        continue;
      return { path, key: `${stat.dev}:${stat.ino}:${stat.mtimeNs}:${stat.size}` };
    } catch {
      // not permitted, or gone: try the next one
    }
  }
  return undefined;
}

/** Formats a device as /proc/PID/maps does (makedev(3)). */
function deviceName(device: bigint): string {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn);
  const minor = (device & 0xffn) | ((device >> 12n) & ~0xffn);
  const hex = (part: bigint) => part.toString(16).padStart(2, "0");
  return `${hex(major)}:${hex(minor)}`;
}

/**
 * Rebuilds a file from its mappings, each at its offset. This is enough for the loader's tables and for
 * unwinding.
 */
function fromMemory(pid: number, maps: readonly MapEntry[]): Elf {
  const size = Math.min(
    MOST_COPIED,
    maps.reduce((most, { from, to, offset }) => Math.max(most, offset + to - from), 0),
  );
  const bytes = new Uint8Array(size);
  for (const { from, to, offset, permissions } of maps) {
    if (offset >= size || permissions[0] !== "r") continue;
    native().fetch(pid, BigInt(from), bytes.subarray(offset, Math.min(size, offset + to - from)));
  }
  return Elf.from(bytes, maps[0]!.path);
}

/** The kernel gives every process the same vDSO. Our own copy cannot have been tampered with. */
function ownVdso(): Elf | null {
  const entry = readMaps(process.pid).find(({ path }) => path === "[vdso]");
  if (!entry) return null;
  const bytes = new Uint8Array(entry.to - entry.from);
  if (native().fetch(process.pid, BigInt(entry.from), bytes) !== bytes.length) return null;
  return attempt(() => Elf.from(bytes, "[vdso]"));
}
