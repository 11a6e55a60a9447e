import { mkdirSync, readdirSync, readlinkSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { HermesError } from "../../../nouns/errors.js";
import type { ContainerPlan } from "./plan.js";
import { bindMount, type SpecMount } from "./spec.js";

/** Paths of which a container has its own. */
const OWN = ["proc", "sys", "dev", "tmp"];

/**
 * Builds a container's root in `folder` without changing the given root file system. An overlay holds the mount points and,
 * for a writable root, the container's writes.
 */
export function composeRoot(
  rootfs: string,
  folder: string,
  plan: ContainerPlan,
): { path: string; mounts: SpecMount[] } {
  const path = join(folder, "root");
  mkdirSync(path, { mode: 0o755 });
  const mounts = readdirSync(rootfs, { withFileTypes: true })
    .filter(({ name }) => !OWN.includes(name))
    .flatMap((entry) => {
      const source = join(rootfs, entry.name);
      if (entry.isSymbolicLink()) {
        symlinkSync(readlinkSync(source), join(path, entry.name));
        return [];
      }
      const places = plan.mounts.filter(({ target }) => target.startsWith(`/${entry.name}/`));
      if (!entry.isDirectory() || (plan.readOnly && places.length === 0))
        return [bindMount(source, `/${entry.name}`, "ro")];
      return [overlay(source, entry.name, folder, places, plan.readOnly)];
    });
  return { path, mounts };
}

function overlay(
  source: string,
  name: string,
  folder: string,
  places: ContainerPlan["mounts"],
  readOnly: boolean,
): SpecMount {
  if (/[:,\\]/.test(source))
    throw new HermesError("BACKEND", {
      where: "a container",
      message: `${JSON.stringify(source)} cannot be a container's root: its name has a colon, a comma or a backslash`,
    });
  const layer = (kind: string) => {
    const made = join(folder, kind, name);
    mkdirSync(made, { recursive: true });
    return made;
  };
  const between = layer("between");
  for (const { source: from, target } of places) makePlace(join(dirname(between), target), from);
  return {
    destination: `/${name}`,
    type: "overlay",
    source: "overlay",
    options: [
      `lowerdir=${between}:${source}`,
      ...(readOnly ? ["ro"] : [`upperdir=${layer("upper")}`, `workdir=${layer("work")}`]),
      "nosuid",
      "nodev",
    ],
  };
}

/** An empty file or folder of the same kind, to mount on. */
function makePlace(place: string, source: string): void {
  const isFolder = statSync(source).isDirectory();
  mkdirSync(isFolder ? place : dirname(place), { recursive: true });
  if (!isFolder) writeFileSync(place, "", { flag: "a" });
}
