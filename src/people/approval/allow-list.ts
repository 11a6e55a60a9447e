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
import { type Document, isMap, isScalar, isSeq, parseDocument, Scalar, YAMLMap, YAMLSeq } from "yaml";
import { HermesError } from "../../nouns/errors.js";
import { escapeControl } from "../../nouns/text.js";

/** The lists of hermes.yaml that keep answers for always: `approvals.allow` and `approvals.deny`. */
export type AnswerList = "allow" | "deny";

/** An entry of such a list, with the comment behind it. */
export interface KeptAnswer {
  readonly list: AnswerList;
  readonly key: string;
  readonly comment: string;
}

/**
 * Adds an entry to a list of the user's file, and leaves the rest of it as it is, comments too. The file is written whole
 * or not at all, by one process at a time.
 */
export async function addToAllowList(
  file: string,
  entry: string,
  comment: string,
  list: AnswerList = "allow",
): Promise<void> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  await change(file, (text) => withEntry(text, entry, comment, file, list));
}

/** Takes an entry out of both lists. */
export async function removeFromAnswerLists(file: string, entry: string): Promise<void> {
  await change(file, (text) => withoutEntry(text, entry, file));
}

/** What the user's file keeps. A file that is not there keeps nothing. */
export function readAnswerLists(file: string): readonly KeptAnswer[] {
  if (!existsSync(file)) return [];
  const document = documentOf(readFileSync(file, "utf8"), file);
  return (["allow", "deny"] as const).flatMap((list) => {
    const found = document.getIn(["approvals", list]);
    if (!isSeq(found)) return [];
    return found.items.flatMap((item) =>
      isScalar(item) ? [{ list, key: String(item.value), comment: (item.comment ?? "").trim() }] : [],
    );
  });
}

async function change(file: string, edit: (text: string) => string | undefined): Promise<void> {
  const target = existsSync(file) ? realpathSync(file) : file;
  await alone(`${target}.lock`, () => {
    const changed = edit(existsSync(target) ? readFileSync(target, "utf8") : "");
    if (changed !== undefined) replace(target, changed);
  });
}

function documentOf(text: string, file: string): Document.Parsed {
  const document = parseDocument(text);
  if (document.errors[0]) throw new HermesError("CONFIG", { file, message: document.errors[0].message });
  return document;
}

function withoutEntry(text: string, entry: string, file: string): string | undefined {
  const document = documentOf(text, file);
  let found = false;
  for (const name of ["allow", "deny"]) {
    const list = document.getIn(["approvals", name]);
    if (!isSeq(list)) continue;
    const left = list.items.filter((item) => !isScalar(item) || item.value !== entry);
    found ||= left.length < list.items.length;
    list.items = left;
  }
  return found ? document.toString({ lineWidth: 0 }) : undefined;
}

function withEntry(
  text: string,
  entry: string,
  comment: string,
  file: string,
  name: AnswerList,
): string | undefined {
  const document = documentOf(text, file);
  const fail = (message: string) => new HermesError("CONFIG", { file, message });
  if (document.contents === null) document.contents = document.createNode({}) as never;
  if (!isMap(document.contents)) throw fail("there are no keys in it");
  if (document.get("approvals") === undefined) document.set("approvals", new YAMLMap());
  if (!isMap(document.get("approvals"))) throw fail("`approvals` takes keys of its own");
  const place = ["approvals", name];
  if (document.getIn(place) === undefined) document.setIn(place, new YAMLSeq());
  const list = document.getIn(place);
  if (!isSeq(list)) throw fail(`\`approvals.${name}\` takes a list`);
  if ((list.toJSON() as unknown[]).includes(entry)) return undefined;
  if (list.flow) inLines(list);
  const item = new Scalar(entry);
  item.comment = ` ${escapeControl(comment).slice(0, 160)}`;
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
