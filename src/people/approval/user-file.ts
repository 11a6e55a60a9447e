import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Document, parseDocument, type YAMLSeq } from "yaml";
import { HermesError } from "../../nouns/errors.js";

/**
 * Changes the user's hermes.yaml. The rest of the file stays as it is, comments too. The file is written whole or not at
 * all, by one process at a time. `edit` returns undefined where nothing is to change.
 */
export async function changeUserFile(
  file: string,
  edit: (text: string) => string | undefined,
): Promise<void> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const target = existsSync(file) ? realpathSync(file) : file;
  await alone(`${target}.lock`, () => {
    const changed = edit(existsSync(target) ? readFileSync(target, "utf8") : "");
    if (changed !== undefined) replace(target, changed);
  });
}

export function documentOf(text: string, file: string): Document.Parsed {
  const document = parseDocument(text);
  if (document.errors[0]) throw new HermesError("CONFIG", { file, message: document.errors[0].message });
  return document;
}

/** A comment ends a line, so every entry needs one of its own. */
export function inLines(list: YAMLSeq): void {
  list.flow = false;
  list.commentBefore = list.comment ?? null;
  list.comment = null;
}

/** A crash leaves the old file or the new one. */
function replace(file: string, text: string): void {
  const mode = existsSync(file) ? statSync(file).mode & 0o777 : 0o600;
  const draft = `${file}.${process.pid}.new`;
  rmSync(draft, { force: true });
  const fd = openSync(draft, "wx", mode); // a link of that name is not followed
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(draft, file);
}

const TRIES = 200;
const PAUSE_MS = 25;

/** Holds a file with its own number in it while it works; one that a dead process left is taken over. */
async function alone(lock: string, act: () => void): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      writeFileSync(lock, String(process.pid), { flag: "wx", mode: 0o600 });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      if (tries >= TRIES)
        throw new HermesError("CONFIG", { file: lock, message: "another process holds it" });
      if (isStale(lock)) rmSync(lock, { force: true });
      else await sleep(PAUSE_MS);
    }
  }
  try {
    act();
  } finally {
    rmSync(lock, { force: true });
  }
}

function isStale(lock: string): boolean {
  try {
    const pid = Number(readFileSync(lock, "utf8"));
    // Just made, and still empty: its owner is about to write its number.
    if (!pid) return Date.now() - statSync(lock).mtimeMs > 1000;
    return !existsSync(`/proc/${pid}`);
  } catch {
    return false;
  }
}
