import { existsSync, readFileSync } from "node:fs";
import { isMap, isScalar, isSeq, Scalar, YAMLMap, YAMLSeq } from "yaml";
import { HermesError } from "../../nouns/errors.js";
import { escapeControl } from "../../nouns/text.js";
import { changeUserFile, documentOf, inLines } from "./user-file.js";

/** The lists of hermes.yaml that keep answers for always: `approvals.allow` and `approvals.deny`. */
export type AnswerList = "allow" | "deny";

/** An entry of such a list, with the comment behind it. */
export interface KeptAnswer {
  readonly list: AnswerList;
  readonly key: string;
  readonly comment: string;
}

/** Adds an entry to a list of the user's file. */
export async function addToAllowList(
  file: string,
  entry: string,
  comment: string,
  list: AnswerList = "allow",
): Promise<void> {
  await changeUserFile(file, (text) => withEntry(text, entry, comment, file, list));
}

/** Takes an entry out of both lists. */
export async function removeFromAnswerLists(file: string, entry: string): Promise<void> {
  await changeUserFile(file, (text) => withoutEntry(text, entry, file));
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
