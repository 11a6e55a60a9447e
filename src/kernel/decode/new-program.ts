import type { ProcessInfo } from "../../nouns/event.js";
import { decodeText } from "../../nouns/text.js";
import { DOOR, NEW_PROGRAM, NEW_PROGRAM_SLOT } from "../binding/layout.js";
import type { Stop } from "../binding/stop.js";
import { isExecutableMapping, readMaps } from "../process/maps.js";

/** A program before its first instruction. */
export interface NewProgram {
  readonly exe: string;
  readonly argv: readonly string[];
  /** The files that it runs code from: the program, its loader. */
  readonly code: readonly string[];
  /** Its execve was not decided on: the exec cache knew another program for it. */
  readonly wasCached: boolean;
}

/** The program at an exec event: as the stop brings it, or else as /proc tells. */
export function newProgram(stop: Stop, process: () => ProcessInfo): NewProgram {
  const { door, result: flags, tid } = stop;
  const wasCached = door === DOOR.notify && (flags & NEW_PROGRAM.cached) !== 0;
  if (door === DOOR.notify && flags & NEW_PROGRAM.read) {
    const words = (slot: number) => nulSeparated(stop.slotBytes(slot));
    const exe = stop.slotText(NEW_PROGRAM_SLOT.file);
    return { exe, argv: words(NEW_PROGRAM_SLOT.words), code: words(NEW_PROGRAM_SLOT.code), wasCached };
  }
  const { exe, argv } = process();
  const mapped = readMaps(tid).filter((map) => isExecutableMapping(map) && map.path.startsWith("/"));
  return { exe, argv, code: mapped.map(({ path }) => path), wasCached };
}

function nulSeparated(bytes: Buffer): string[] {
  if (bytes.length === 0) return [];
  return decodeText(bytes.at(-1) === 0 ? bytes.subarray(0, -1) : bytes).split("\0");
}
