import type { Dirent } from "node:fs";
import { opendir, realpath } from "node:fs/promises";
import { isInside } from "../../guard/paths/components.js";
import type { World } from "../tool.js";
import { Ignore } from "./ignore.js";
import { type Pin, pin } from "./pin.js";
import { judgeReal } from "./target.js";

/** What lies in a folder. Links are named and not followed. */
export interface Entry {
  /** From the folder that was asked for. */
  readonly path: string;
  readonly real: string;
  readonly kind: "file" | "folder" | "link" | "other";
  /** Leads to it through its pinned folder; a link must not be followed there. */
  readonly way: string;
  /** The way leads to the entry itself, which is pinned and judged. */
  readonly pinned?: true;
}

export interface TreeOptions {
  readonly depth: number;
  /** Also what .gitignore hides. */
  readonly ignored: boolean;
  readonly signal: AbortSignal;
}

/** What a walk left out. */
export class Omitted {
  readonly refused: string[] = [];
  ignored = 0;
  entries = 0;
  full = false;

  get notes(): string[] {
    const notes: string[] = [];
    if (this.ignored > 0) notes.push(`${this.ignored} entries are left out because of .gitignore.`);
    if (this.refused.length > 0)
      notes.push(
        `Not looked into: ${this.refused.slice(0, 5).join(", ")}${this.refused.length > 5 ? ` and ${this.refused.length - 5} more` : ""}.`,
      );
    if (this.full)
      notes.push(`There is more than ${ENTRIES.toLocaleString("en")} entries: name a smaller folder.`);
    return notes;
  }
}

/** So many entries are looked at, in all. */
export const ENTRIES = 200_000;
/** No path goes deeper, and each level holds a descriptor. */
export const DEEPEST = 64;

/** Everything below a pinned folder, each folder before what is in it, by name. */
export async function* tree(
  top: Pin,
  world: World,
  options: TreeOptions,
  omitted: Omitted,
): AsyncIterable<Entry> {
  yield* below(top, [], await rulesAbove(top, world), world, options, omitted);
}

async function* below(
  folder: Pin,
  parts: readonly string[],
  rules: Rules,
  world: World,
  options: TreeOptions,
  omitted: Omitted,
): AsyncIterable<Entry> {
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
  /** From the workspace to the folder that was asked for: rules of the folders between count as well. */
  readonly prefix: readonly string[];
}

async function rulesAbove(top: Pin, world: World): Promise<Rules> {
  const workspace = await realpath(world.workspace);
  const inside = top.path !== workspace && isInside(top.path, workspace);
  const prefix = inside ? top.path.slice(workspace.length).split("/").filter(Boolean) : [];
  let ignore = new Ignore();
  for (const depth of prefix.keys())
    ignore = await ignore.entering([workspace, ...prefix.slice(0, depth)].join("/"), depth);
  return { ignore, prefix };
}

/** Undefined: it is gone, is a link by now, or the guard would not have it listed. */
async function entered(way: string, real: string, world: World, omitted: Omitted): Promise<Pin | undefined> {
  const inner = await pin(way, { folder: true, link: true }).catch(() => undefined);
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

function kindOf(item: Dirent): Entry["kind"] {
  if (item.isFile()) return "file";
  if (item.isDirectory()) return "folder";
  return item.isSymbolicLink() ? "link" : "other";
}
