import { dirname, isAbsolute, join } from "node:path";
import { crc32 } from "./crc32.js";
import type { Elf } from "./elf.js";
import { nameAt } from "./fields.js";

const DEBUG_FOLDER = "/usr/lib/debug";

/** Debug files are found as gdb finds them; one that does not belong to this very build is none. */
export function openDebugFile(elf: Elf, open: (path: string) => Elf): Elf | undefined {
  return byBuildId(elf, open) ?? byLink(elf, open);
}

function byBuildId(elf: Elf, open: (path: string) => Elf): Elf | undefined {
  const id = elf.buildId;
  if (id === undefined || id.length < 4) return undefined;
  const path = join(DEBUG_FOLDER, ".build-id", id.slice(0, 2), `${id.slice(2)}.debug`);
  return opened(path, open, (file) => file.buildId === id);
}

function byLink(elf: Elf, open: (path: string) => Elf): Elf | undefined {
  const section = elf.section(".gnu_debuglink");
  if (section === undefined || !isAbsolute(elf.path)) return undefined;
  const bytes = elf.bytes(section);
  const name = nameAt(bytes, 0);
  if (!name || name.includes("/") || bytes.length < 8) return undefined;
  const crc = elf.fields(bytes).u32(bytes.length - 4);
  const folder = dirname(elf.path);
  const places = [join(folder, name), join(folder, ".debug", name), join(DEBUG_FOLDER, folder, name)];
  for (const path of places) {
    if (path === elf.path) continue;
    const file = opened(path, open, (found) => crcOf(found) === crc);
    if (file !== undefined) return file;
  }
  return undefined;
}

function opened(path: string, open: (path: string) => Elf, belongs: (file: Elf) => boolean): Elf | undefined {
  let file: Elf;
  try {
    file = open(path);
  } catch {
    return undefined;
  }
  if (belongs(file)) return file;
  file.close();
  return undefined;
}

function crcOf(file: Elf): number {
  const step = 1 << 20;
  let crc = 0;
  for (let at = 0; at < file.size; at += step) crc = crc32(file.raw(at, step), crc);
  return crc;
}
