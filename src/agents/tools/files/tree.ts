import type { Dirent } from "node:fs";
import { opendir, realpath } from "node:fs/promises";
import { isWithin } from "../../../intent/guard/paths/components.js";
import type { ToolContext } from "../tool.js";
import { judgeReal } from "./file-target.js";
import { Ignore } from "./ignore.js";
import { type Pin, pinFile } from "./pin.js";

/** The entries of a folder. Links are listed, not followed. */
export interface TreeEntry {
  /** Relative to the requested folder. */
  readonly path: string;
  readonly real: string;
  readonly kind: "file" | "folder" | "link" | "other";
  /** Path through the pinned folder; the caller must not follow a link there. */
  readonly way: string;
  /** The path leads to the entry itself, which is pinned and judged. */
  readonly pinned?: true;
}

interface TreeOptions {
  readonly depth: number;
  /** Include what .gitignore excludes. */
  readonly ignored: boolean;
  readonly signal: AbortSignal;
}

/** What a walk skipped. */
export class Omitted {
  readonly refused: string[] = [];
  ignored = 0;
  entries = 0;
  full = false;

  get notes(): string[] {
    const notes: string[] = [];
    if (this.ignored > 0)
      notes.push(
        `${this.ignored === 1 ? "1 entry is" : `${this.ignored} entries are`} excluded by .gitignore.`,
      );
    if (this.refused.length > 0)
      notes.push(
        `Folders not read: ${this.refused.slice(0, 5).join(", ")}${this.refused.length > 5 ? ` and ${this.refused.length - 5} more` : ""}.`,
      );
    if (this.full) notes.push(`More than ${ENTRIES.toLocaleString("en")} entries: choose a smaller folder.`);
    return notes;
  }
}

/** Entries examined by one walk. */
export const ENTRIES = 200_000;
/** Maximum depth: each level holds a descriptor. */
export const DEEPEST = 64;

/** Everything below a pinned folder, sorted by name, each folder before its contents. */
export async function* tree(
  top: Pin,
  world: ToolContext,
  options: TreeOptions,
  omitted: Omitted,
): AsyncIterable<TreeEntry> {
  yield* below(top, [], await rulesAbove(top, world), world, options, omitted);
}

async function* below(
  folder: Pin,
  parts: readonly string[],
  rules: Rules,
  world: ToolContext,
  options: TreeOptions,
  omitted: Omitted,
): AsyncIterable<TreeEntry> {
  const ignore = await rules.ignore.entering(folder.way, rules.prefix.length + parts.length);
  for (const item of await itemsOf(folder, omitted)) {
    options.signal.throwIfAborted();
    const path = [...parts, item.name];
    const kind = kindOf(item);
    if (!options.ignored && ignore.hides([...rules.prefix, ...path], kind === "folder")) {
      omitted.ignored++;
      continue;
    }
    const way = `${folder.way}/${item.name}`;
    const real = `${folder.path === "/" ? "" : folder.path}/${item.name}`;
    yield { path: path.join("/"), real, kind, way };
    if (kind !== "folder" || path.length >= options.depth) continue;
    const inner = await entered(way, real, world, omitted);
    try {
      if (inner) yield* below(inner, path, { ...rules, ignore }, world, options, omitted);
    } finally {
      await inner?.close();
    }
  }
}

interface Rules {
  readonly ignore: Ignore;
  /** From the workspace to the requested folder: the rules of the folders in between apply too. */
  readonly prefix: readonly string[];
}

async function rulesAbove(top: Pin, world: ToolContext): Promise<Rules> {
  const workspace = await realpath(world.workspace);
  const inside = top.path !== workspace && isWithin(top.path, workspace);
  const prefix = inside ? top.path.slice(workspace.length).split("/").filter(Boolean) : [];
  let ignore = new Ignore();
  for (const depth of prefix.keys())
    ignore = await ignore.entering([workspace, ...prefix.slice(0, depth)].join("/"), depth);
  return { ignore, prefix };
}

/** Undefined: the folder was removed, is now a link, or the guard refuses to list it. */
async function entered(
  way: string,
  real: string,
  world: ToolContext,
  omitted: Omitted,
): Promise<Pin | undefined> {
  const inner = await pinFile(way, { folder: true, link: true }).catch(() => undefined);
  if (inner && judgeReal(inner.path, "list", world).action === "allow") return inner;
  omitted.refused.push(real);
  await inner?.close();
  return undefined;
}

async function itemsOf(folder: Pin, omitted: Omitted): Promise<Dirent[]> {
  const items: Dirent[] = [];
  try {
    for await (const item of await opendir(folder.way)) {
      if (omitted.entries >= ENTRIES) omitted.full = true;
      if (omitted.full) break;
      omitted.entries++;
      items.push(item);
    }
  } catch (error) {
    omitted.refused.push(`${folder.path} (${(error as NodeJS.ErrnoException).code})`);
  }
  return items.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function kindOf(item: Dirent): TreeEntry["kind"] {
  if (item.isFile()) return "file";
  if (item.isDirectory()) return "folder";
  return item.isSymbolicLink() ? "link" : "other";
}
