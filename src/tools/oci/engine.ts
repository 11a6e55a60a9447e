import { accessSync, constants, readFileSync } from "node:fs";
import { join } from "node:path";
import { HermesError } from "../../errors.js";
import type { OciSection } from "./plan.js";

export type Engine =
  | { readonly name: "podman" | "docker"; readonly image: string }
  | { readonly name: "crun" | "runc"; readonly rootfs: string };

/** Who makes the containers. Throws where what the configuration says does not go together. */
export function chooseEngine({ engine, image, rootfs, network }: OciSection): Engine {
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
    throw wrong(`${name} alone makes no bridge: say network: none, or use podman or docker`);
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
 * crun, alone or for podman, does not start where version 2 of cgroups has controllers beside version 1. It works with
 * version 1 where it cannot see the other: in a mount namespace of its own, which root can make.
 */
export function aroundHybridCgroups(name: Engine["name"], command: readonly string[]): readonly string[] {
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
