import { existsSync, readFileSync } from "node:fs";
import { isMap, isSeq, type Pair, YAMLSeq } from "yaml";
import { type AllowEntry, allowSection } from "../../intent/guard/config/allow.js";
import { HermesError } from "../../nouns/errors.js";
import { escapeControl } from "../../nouns/text.js";
import { changeUserFile, documentOf, inLines } from "./user-file.js";

/** An entry of `allow:` in the user's hermes.yaml, with the comment behind it. */
export interface WrittenEntry {
  /** From 1, in the order of the file. */
  readonly number: number;
  readonly entry: AllowEntry;
  readonly comment: string;
}

/** A file that is not there allows nothing. */
export function readAllowEntries(file: string): readonly WrittenEntry[] {
  if (!existsSync(file)) return [];
  const found = documentOf(readFileSync(file, "utf8"), file).get("allow");
  if (!isSeq(found)) return [];
  return found.items.map((item, i) => ({
    number: i + 1,
    entry: checked((item as { toJSON(): unknown }).toJSON(), file),
    comment: (commentOf(item) ?? "").trim(),
  }));
}

/** Adds an entry; false where the file has it already. */
export async function addAllowEntry(file: string, entry: AllowEntry, comment: string): Promise<boolean> {
  checked(entry, file);
  let added = false;
  await changeUserFile(file, (text) => {
    const document = documentOf(text, file);
    if (document.contents === null) document.contents = document.createNode({}) as never;
    if (!isMap(document.contents))
      throw new HermesError("CONFIG", { file, message: "there are no keys in it" });
    if (document.get("allow") == null) document.set("allow", new YAMLSeq());
    const list = document.get("allow");
    if (!isSeq(list)) throw new HermesError("CONFIG", { file, message: "`allow` takes a list" });
    const written = JSON.stringify(entry);
    if (list.toJSON().some((one: unknown) => JSON.stringify(one) === written)) return undefined;
    if (list.flow) inLines(list);
    const item = document.createNode(entry, { flow: true });
    item.comment = ` ${escapeControl(comment).slice(0, 160)}`;
    list.add(item);
    added = true;
    return document.toString({ lineWidth: 0 });
  });
  return added;
}

/** Takes an entry out. It is named by its content: its number may have changed meanwhile. */
export async function removeAllowEntry(file: string, entry: AllowEntry): Promise<void> {
  const written = JSON.stringify(entry);
  await changeUserFile(file, (text) => {
    const document = documentOf(text, file);
    const list = document.get("allow");
    if (!isSeq(list)) return undefined;
    const at = list.items.findIndex(
      (item) => JSON.stringify((item as { toJSON(): unknown }).toJSON()) === written,
    );
    if (at < 0) return undefined;
    list.items.splice(at, 1);
    if (list.items.length === 0) document.delete("allow");
    return document.toString({ lineWidth: 0 });
  });
}

function checked(entry: unknown, file: string): AllowEntry {
  const result = allowSection.unwrap().element.safeParse(entry);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0]!;
  throw new HermesError("CONFIG", {
    file,
    message: `allow: ${path.map((step) => `\`${String(step)}\` `).join("")}${message}`,
  });
}

/** Behind an entry in one line, the parser keeps the comment with the last value inside. */
function commentOf(item: unknown): string | null | undefined {
  if (!isMap(item)) return undefined;
  return (
    item.comment ?? (item.items.at(-1) as Pair<unknown, { comment?: string }> | undefined)?.value?.comment
  );
}
