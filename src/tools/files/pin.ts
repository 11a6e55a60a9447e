import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, open, readlink } from "node:fs/promises";
import { getSystemErrorMap } from "node:util";
import type { Stamp } from "../../guard/files/tracker.js";
import { decodeText, harmless } from "../../text.js";
import { ToolError } from "../tool.js";

/** Reaches a file without opening it: no FIFO waits, no device starts, nothing is read. Node has no name for it. */
const O_PATH = 0o10000000;
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY, O_RDONLY } = constants;

/** Another program may put a new file in place of the old one just while it is looked at. */
const TRIES = 5;

/** What a path reached, held: whatever happens to its name afterwards, this stays the same file or folder. */
export class Pin {
  readonly #handle: FileHandle;
  /** Its real name, without any link, at the moment when it was pinned. */
  readonly path: string;
  readonly info: BigIntStats;

  constructor(handle: FileHandle, path: string, info: BigIntStats) {
    this.#handle = handle;
    this.path = path;
    this.info = info;
  }

  /** Leads to the pinned object itself, past every name. */
  get way(): string {
    return `/proc/self/fd/${this.#handle.fd}`;
  }

  /** To read from. Where a file of /proc would make us wait, it says EAGAIN. */
  reader(): Promise<FileHandle> {
    return open(this.way, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

export interface PinOptions {
  readonly folder?: boolean;
  /** A link as the last part is pinned itself. */
  readonly link?: boolean;
}

/** Throws what `open` throws, and a ToolError when the name does not hold still. */
export async function pin(path: string, { folder = false, link = false }: PinOptions = {}): Promise<Pin> {
  const flags = O_PATH | (folder ? O_DIRECTORY : 0) | (link ? O_NOFOLLOW : 0);
  for (let tries = 0; tries < TRIES; tries++) {
    const handle = await open(path, flags);
    try {
      const info = await handle.stat({ bigint: true });
      const name = await readlink(`/proc/self/fd/${handle.fd}`, { encoding: "buffer" });
      if (await isStill(name, info)) return new Pin(handle, decodeText(name), info);
    } catch (error) {
      await handle.close();
      throw error;
    }
    await handle.close();
  }
  throw new ToolError(
    "no-name",
    `${harmless(path)} has no name that holds: it was moved or removed just now.`,
  );
}

/** A removed file's name ends in " (deleted)", a pipe's is none: what we call it must lead to it. */
async function isStill(name: Buffer, { dev, ino }: BigIntStats): Promise<boolean> {
  try {
    const there = await lstat(name, { bigint: true });
    return there.dev === dev && there.ino === ino;
  } catch {
    return false;
  }
}

/** Every state of every file has another one. */
export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): Stamp {
  return [dev, ino, size, mtimeNs, ctimeNs].join(":");
}

export function kindOf(info: BigIntStats): string {
  if (info.isFile()) return "a file";
  if (info.isDirectory()) return "a folder";
  if (info.isSymbolicLink()) return "a link";
  if (info.isFIFO()) return "a named pipe";
  if (info.isSocket()) return "a socket";
  return "a device";
}

/** Reading or writing anything else hangs, never ends, or does something. */
export function mustBeFile(path: string, info: BigIntStats): void {
  if (!info.isFile()) throw new ToolError("not-a-file", `${harmless(path)} is ${kindOf(info)}, not a file.`);
}

const ERRORS = new Map([...getSystemErrorMap().values()]);

/** What the kernel said, in words for the agent. Other errors pass. */
export function inWords(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof ToolError || code === undefined || !ERRORS.has(code)) return error;
  const rule = code === "ENOENT" ? "not-found" : "file-error";
  return new ToolError(rule, `${harmless(path)}: ${ERRORS.get(code)} (${code}).`, { cause: error });
}
