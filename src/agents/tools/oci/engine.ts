import { accessSync, constants, readFileSync } from "node:fs";
import { join } from "node:path";
import { HermesError } from "../../../nouns/errors.js";
import type { OciSection } from "./plan.js";

export type ContainerEngine =
  | { readonly name: "podman" | "docker"; readonly image: string }
  | { readonly name: "crun" | "runc"; readonly rootfs: string };

/** The container engine. Throws when the configuration is contradictory. */
export function chooseEngine({ engine, image, rootfs, network }: OciSection): ContainerEngine {
  const wrong = (message: string) => new HermesError("BACKEND", { where: "a container", message });
  if ((image === undefined) === (rootfs === undefined))
    throw wrong("hermes.yaml must name either backend.oci.image or backend.oci.rootfs");
  const [managers, runtimes] = [["podman", "docker"] as const, ["crun", "runc"] as const];
  const candidates = [...(image === undefined ? runtimes : managers)].filter(
    (name) => engine === "auto" || engine === name,
  );
  if (candidates.length === 0)
    throw wrong(
      image === undefined
        ? `${engine} takes an image, not a rootfs`
        : `${engine} takes a rootfs, not an image`,
    );
  const name = candidates.find(isInstalled);
  if (name === undefined) throw wrong(`${candidates.join(" or ")} is not installed`);
  if (name === "podman" || name === "docker") return { name, image: image! };
  if (network === "bridge")
    throw wrong(`${name} alone cannot make a bridge network: set network: none, or use podman or docker`);
  return { name, rootfs: rootfs! };
}

function isInstalled(name: string): boolean {
  return (process.env.PATH ?? "").split(":").some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * crun, alone or under podman, does not start where cgroup v2 has controllers beside v1. It works with v1 where it cannot
 * see v2: in a separate mount namespace, which root can make.
 */
export function aroundHybridCgroups(
  name: ContainerEngine["name"],
  command: readonly string[],
): readonly string[] {
  const unified = "/sys/fs/cgroup/unified";
  if (process.getuid!() !== 0 || !["crun", "podman"].includes(name) || !hasControllers(unified))
    return command;
  return ["unshare", "--mount", "sh", "-c", 'umount "$0" && exec "$@"', unified, ...command];
}

function hasControllers(folder: string): boolean {
  try {
    return readFileSync(join(folder, "cgroup.controllers"), "utf8").trim() !== "";
  } catch {
    return false;
  }
}
