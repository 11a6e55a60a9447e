import { statSync } from "node:fs";
import { basename } from "node:path";
import type { Elf } from "../../binary/elf/elf.js";
import { isExecutableMapping, type MapEntry, mapAt, readMaps } from "./maps.js";
import { ModuleFiles } from "./module-files.js";
import { readLink } from "./proc.js";

const EXECUTE = 1;
const DELETED = " (deleted)";

/** A mapped file with code: a program, a library, the vDSO. */
export class Module {
  /** The path in the process's view, without the kernel's "(deleted)". */
  readonly path: string;
  /** `libc.so.6`, `python3.11`, `[vdso]`. */
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Its mappings, in order. */
  readonly maps: readonly MapEntry[];
  /** True for the program itself, false for what it loaded. */
  readonly isMain: boolean;
  readonly #open: () => Elf | undefined;
  #bias: number | null | undefined;

  constructor(maps: readonly MapEntry[], isMain: boolean, open: () => Elf | undefined) {
    const { path } = maps[0]!;
    this.path = path.endsWith(DELETED) ? path.slice(0, -DELETED.length) : path;
    this.name = basename(this.path);
    this.from = maps[0]!.from;
    this.to = maps.at(-1)!.to;
    this.maps = maps;
    this.isMain = isMain;
    this.#open = open;
  }

  get isVdso(): boolean {
    return this.path === "[vdso]";
  }

  /** The file that is really mapped, or a copy of it; undefined when it cannot be read. */
  elf(): Elf | undefined {
    return this.#open();
  }

  /** The difference between an address in the process and the address in the file; undefined when unknown. */
  get bias(): number | undefined {
    if (this.#bias === undefined) this.#bias = this.#findBias() ?? null;
    return this.#bias ?? undefined;
  }

  #findBias(): number | undefined {
    const segments = this.elf()?.segments.filter(({ type }) => type === "load") ?? [];
    for (const { from, offset } of this.maps.filter(isExecutableMapping)) {
      const segment = segments.find(
        (part) =>
          (part.flags & EXECUTE) !== 0 &&
          offset >= part.offset - (part.offset % 4096) &&
          offset < part.offset + part.fileSize,
      );
      if (segment) return from - offset + segment.offset - segment.address;
    }
    return undefined;
  }
}

/** All mappings of a process at one moment. */
export class Modules {
  readonly maps: readonly MapEntry[];
  readonly all: readonly Module[];
  readonly #of = new Map<MapEntry, Module>();

  constructor(maps: readonly MapEntry[], all: readonly Module[]) {
    this.maps = maps;
    this.all = all;
    for (const module of all) for (const entry of module.maps) this.#of.set(entry, module);
  }

  [Symbol.iterator](): Iterator<Module> {
    return this.all[Symbol.iterator]();
  }

  get main(): Module | undefined {
    return this.all.find((module) => module.isMain);
  }

  /** The module that holds an address. */
  at(address: number): Module | undefined {
    const entry = mapAt(this.maps, address);
    return entry && this.#of.get(entry);
  }

  /** True when the address is executable. */
  isCode(address: number): boolean {
    const entry = mapAt(this.maps, address);
    return entry !== undefined && isExecutableMapping(entry);
  }
}

/** What is mapped now. Pass `files` to keep opened files for the next call. */
export function modulesOf(
  pid: number,
  files: ModuleFiles = new ModuleFiles(),
  maps: readonly MapEntry[] = readMaps(pid),
): Modules {
  const main = mainOf(pid);
  const modules = groupMappings(maps).map(
    (group) => new Module(group, isFile(group[0]!, main), () => files.open(pid, group)),
  );
  return new Modules(maps, modules);
}

/**
 * Consecutive mappings of one file, at least one of them executable. A second load of the file is another
 * group.
 */
export function groupMappings(maps: readonly MapEntry[]): readonly (readonly MapEntry[])[] {
  const groups = new Map<string, MapEntry[]>();
  const all: MapEntry[][] = [];
  for (const entry of maps) {
    if (entry.inode === 0 && entry.path !== "[vdso]") continue;
    const key = `${entry.device} ${entry.inode} ${entry.path}`;
    const open = groups.get(key);
    if (open && entry.offset >= open.at(-1)!.offset) open.push(entry);
    else {
      const group = [entry];
      groups.set(key, group);
      all.push(group);
    }
  }
  return all.filter((group) => group.some(isExecutableMapping));
}

interface MainFile {
  readonly inode: number;
  readonly path: string;
}

function mainOf(pid: number): MainFile | undefined {
  try {
    const link = `/proc/${pid}/exe`;
    return { inode: statSync(link).ino, path: readLink(link) };
  } catch {
    return undefined;
  }
}

function isFile({ inode, path }: MapEntry, main: MainFile | undefined): boolean {
  return main !== undefined && inode === main.inode && path === main.path;
}
