import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, open, readlink } from "node:fs/promises";
import { getSystemErrorMap } from "node:util";
import type { Stamp } from "../../../intent/guard/files/tracker.js";
import { decodeText, escapeControl } from "../../../nouns/text.js";
import { ToolError } from "../tool.js";

/**
 * O_PATH: reaches a file without opening it. No FIFO blocks, no device starts, nothing is read. Node has no constant for
 * it.
 */
const O_PATH = 0o10000000;
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY, O_RDONLY } = constants;

/** Retries, because another program may replace the file while it is being looked at. */
const TRIES = 5;

/** A file or folder held by descriptor: it stays the same object even if its name is moved or replaced. */
export class Pin {
  readonly #handle: FileHandle;
  /** Its real path without links, at the time of pinning. */
  readonly path: string;
  readonly info: BigIntStats;

  constructor(handle: FileHandle, path: string, info: BigIntStats) {
    this.#handle = handle;
    this.path = path;
    this.info = info;
  }

  /** A path through /proc/self/fd: it leads to the pinned object, not through its name. */
  get way(): string {
    return `/proc/self/fd/${this.#handle.fd}`;
  }

  /** Opens it for reading, without blocking: files of /proc that would block return EAGAIN. */
  reader(): Promise<FileHandle> {
    return open(this.way, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

interface PinOptions {
  readonly folder?: boolean;
  /** A link as the last component is pinned itself. */
  readonly link?: boolean;
}

/** Throws what `open` throws, or a ToolError when the name keeps changing. */
export async function pinFile(path: string, { folder = false, link = false }: PinOptions = {}): Promise<Pin> {
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
    `${escapeControl(path)} was moved or removed while it was opened: try again.`,
  );
}

/**
 * The kernel appends " (deleted)" to a removed file's name, and a pipe has no path: check that the name leads to the
 * object.
 */
async function isStill(name: Buffer, { dev, ino }: BigIntStats): Promise<boolean> {
  try {
    const there = await lstat(name, { bigint: true });
    return there.dev === dev && there.ino === ino;
  } catch {
    return false;
  }
}

/** Identifies one version of one file. */
export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): Stamp {
  return [dev, ino, size, mtimeNs, ctimeNs].join(":");
}

function fileKind(info: BigIntStats): string {
  if (info.isFile()) return "a file";
  if (info.isDirectory()) return "a folder";
  if (info.isSymbolicLink()) return "a link";
  if (info.isFIFO()) return "a named pipe";
  if (info.isSocket()) return "a socket";
  return "a device";
}

/** Reading or writing other kinds can block, never end, or have side effects. */
export function mustBeFile(path: string, info: BigIntStats): void {
  if (!info.isFile())
    throw new ToolError("not-a-file", `${escapeControl(path)} is ${fileKind(info)}, not a file.`);
}

const ERRORS = new Map([...getSystemErrorMap().values()]);

/** The errno as a sentence for the agent. Other errors are rethrown. */
export function agentErrorFor(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof ToolError || code === undefined || !ERRORS.has(code)) return error;
  const rule = code === "ENOENT" ? "not-found" : "file-error";
  return new ToolError(rule, `${escapeControl(path)}: ${ERRORS.get(code)} (${code}).`, { cause: error });
}
