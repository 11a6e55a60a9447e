import { constants } from "node:fs";
import { access, mkdir, readlink } from "node:fs/promises";
import { escapeControl } from "../../../nouns/text.js";
import { ToolError } from "../tool.js";
import { mustBeFile, type Pin, pinFile } from "./pin.js";

/** Where a file is, or would be created. Its folder is pinned, so no link on the way can be swapped later. */
export interface FileLocation {
  readonly folder: Pin;
  /** Folders below it that do not exist yet. */
  readonly missing: readonly string[];
  readonly name: string;
  /** The real path of the file, existing or not. */
  readonly real: string;
  readonly existing?: Pin;
}

/** More chained links than legitimate use needs. */
const LINKS = 8;

/** Resolves a path for writing. A link as the last component is followed here, not by the kernel. */
export async function locateFile(path: string): Promise<FileLocation> {
  let at = path;
  for (let links = 0; links <= LINKS; links++) {
    const { folder, missing } = await parentOf(at);
    try {
      const name = lastPart(at);
      const real = [folder.path === "/" ? "" : folder.path, ...missing, name].join("/");
      if (missing.length > 0) return { folder, missing, name, real };
      const existing = await pinNamed(folder, name);
      if (existing === undefined) return { folder, missing, name, real };
      if (!existing.info.isSymbolicLink())
        return { folder, missing, name, real, existing: await ours(existing) };
      await existing.close();
      const to = await readlink(`${folder.way}/${name}`);
      at = to.startsWith("/") ? to : `${folder.path}/${to}`;
    } catch (error) {
      await folder.close();
      throw error;
    }
    await folder.close();
  }
  throw new ToolError("file-error", `${escapeControl(path)}: too many links in a row.`);
}

export async function leave({ folder, existing }: FileLocation): Promise<void> {
  await existing?.close();
  await folder.close();
}

/** Creates the missing folders and returns the place inside the last one. */
export async function makeFolders(place: FileLocation): Promise<FileLocation> {
  let { folder } = place;
  for (const part of place.missing) {
    const way = `${folder.way}/${part}`;
    try {
      await mkdir(way).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      });
      const next = await pinFile(way, { folder: true, link: true });
      await folder.close();
      folder = next;
    } catch (error) {
      await folder.close();
      throw error;
    }
  }
  return { ...place, folder, missing: [] };
}

function lastPart(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name === "" || name === "." || name === "..")
    throw new ToolError("not-a-file", `${escapeControl(path)} names a folder, not a file.`);
  return name;
}

/** The deepest existing folder on the path, and the missing ones below it. */
async function parentOf(path: string): Promise<Pick<FileLocation, "folder" | "missing">> {
  const missing: string[] = [];
  for (let at = parent(path); ; at = parent(at)) {
    try {
      return { folder: await pinFile(at, { folder: true }), missing };
    } catch (error) {
      const name = at.slice(at.lastIndexOf("/") + 1);
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || at === "/" || name === "..") throw error;
      if (name !== "" && name !== ".") missing.unshift(name);
    }
  }
}

function parent(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

async function pinNamed(folder: Pin, name: string): Promise<Pin | undefined> {
  try {
    return await pinFile(`${folder.way}/${name}`, { link: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** A file that may not be written must not be replaced either, although write permission on its folder would be enough. */
async function ours(file: Pin): Promise<Pin> {
  try {
    mustBeFile(file.path, file.info);
    await access(file.way, constants.W_OK);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
