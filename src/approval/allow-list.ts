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
import { isMap, isSeq, parseDocument, Scalar, YAMLMap, YAMLSeq } from "yaml";
import { HermesError } from "../errors.js";
import { harmless } from "../text.js";

/**
 * Adds an entry to `approvals.allow` of the user's file, and leaves the rest of it as it is, comments too. The file is
 * written whole or not at all, by one process at a time.
 */
export async function addToAllowList(file: string, entry: string, comment: string): Promise<void> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const target = existsSync(file) ? realpathSync(file) : file;
  await alone(`${target}.lock`, () => {
    const text = existsSync(target) ? readFileSync(target, "utf8") : "";
    const changed = withEntry(text, entry, comment, file);
    if (changed !== undefined) replace(target, changed);
  });
}

function withEntry(text: string, entry: string, comment: string, file: string): string | undefined {
  const document = parseDocument(text);
  const fail = (message: string) => new HermesError("CONFIG", { file, message });
  if (document.errors[0]) throw fail(document.errors[0].message);
  if (document.contents === null) document.contents = document.createNode({}) as never;
  if (!isMap(document.contents)) throw fail("there are no keys in it");
  if (document.get("approvals") === undefined) document.set("approvals", new YAMLMap());
  if (!isMap(document.get("approvals"))) throw fail("`approvals` takes keys of its own");
  const place = ["approvals", "allow"];
  if (document.getIn(place) === undefined) document.setIn(place, new YAMLSeq());
  const list = document.getIn(place);
  if (!isSeq(list)) throw fail("`approvals.allow` takes a list");
  if ((list.toJSON() as unknown[]).includes(entry)) return undefined;
  if (list.flow) inLines(list);
  const item = new Scalar(entry);
  item.comment = ` ${harmless(comment).slice(0, 160)}`;
  list.add(item);
  return document.toString({ lineWidth: 0 });
}

/** A comment ends a line, so every entry needs one of its own. */
function inLines(list: YAMLSeq): void {
  list.flow = false;
  list.commentBefore = list.comment ?? null;
  list.comment = null;
}

/** A crash leaves the old file or the new one. */
function replace(file: string, text: string): void {
  const mode = existsSync(file) ? statSync(file).mode & 0o777 : 0o600;
  const draft = `${file}.${process.pid}.new`;
  rmSync(draft, { force: true });
  const fd = openSync(draft, "wx", mode); // a link that somebody left under that name is not followed
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
    // Just made, and nothing in it yet: somebody is at it.
    if (!pid) return Date.now() - statSync(lock).mtimeMs > 1000;
    return !existsSync(`/proc/${pid}`);
  } catch {
    return false;
  }
}
