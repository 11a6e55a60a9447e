import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { HermesError } from "../../nouns/errors.js";

/** Where an ELF file's bytes are: on disk, or already in memory. Reads are cut at the end, never beyond it. */
export interface ElfSource {
  readonly size: number;
  read(offset: number, length: number): Uint8Array;
  close(): void;
}

export function bytesSource(bytes: Uint8Array): ElfSource {
  return {
    size: bytes.length,
    read: (offset, length) => bytes.subarray(Math.min(offset, bytes.length), offset + length),
    close: () => {},
  };
}

/** Keeps the descriptor open: later reads see the same file even when its name is reused. */
export function fileSource(path: string): ElfSource {
  const fd = openFile(path);
  let open = true;
  const size = fstatSync(fd).size;
  return {
    size,
    read: (offset, length) => {
      const bytes = Buffer.allocUnsafeSlow(Math.max(0, Math.min(length, size - offset)));
      return bytes.subarray(0, readFully(fd, bytes, offset));
    },
    close: () => {
      if (open) closeSync(fd);
      open = false;
    },
  };
}

function openFile(path: string): number {
  let fd: number;
  try {
    // Opening a FIFO would block until a writer comes.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw new HermesError("ELF_OPEN", { file: path, why: reason(error) }, { cause: error });
  }
  const stat = fstatSync(fd);
  if (stat.isFile()) return fd;
  closeSync(fd);
  throw new HermesError("ELF_OPEN", {
    file: path,
    why: stat.isDirectory() ? "it is a folder" : "it is not a regular file",
  });
}

function readFully(fd: number, bytes: Buffer, offset: number): number {
  let done = 0;
  while (done < bytes.length) {
    const count = readSync(fd, bytes, done, bytes.length - done, offset + done);
    if (count === 0) break; // the file was cut while we read it
    done += count;
  }
  return done;
}

function reason(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  return code === undefined ? String(error) : code;
}
