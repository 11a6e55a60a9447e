import { type Dirent, readdirSync } from "node:fs";

/** Character devices that reach a disk or the machine's memory without a file system. */
const RAW =
  /^(?:mem|kmem|port|sg\d+|ng\d+n\d+|nvme\d+|st\d+|nst\d+|mtd\d+(?:ro)?|ubi\d+(?:_\d+)?|raw\d*|rawctl|dax\d+\.\d+)$/;
const RAW_FOLDERS = /^\/dev\/(?:bsg|raw|vfio)$/;
const MAX_DEPTH = 4;

/** Device nodes below /dev that lead around every mount: a program that opens one reads the disk itself. */
export function rawDevices(folder = "/dev", depth = 0): string[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isBlockDevice()) return [path];
    if (entry.isCharacterDevice()) return RAW.test(entry.name) || RAW_FOLDERS.test(folder) ? [path] : [];
    return entry.isDirectory() && depth < MAX_DEPTH ? rawDevices(path, depth + 1) : [];
  });
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // the program may not list it either
  }
}
