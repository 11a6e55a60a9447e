import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import type { BackendSection } from "../../../intent/guard/config/backend.js";
import { HermesError } from "../../../nouns/errors.js";
import type { RunOrder } from "../backend.js";
import type { RemoteHost } from "../remote/messages.js";
import type { HermesPackage, Mount } from "./package.js";

export type OciSection = BackendSection["oci"];

/** What a container consists of, independent of the engine. */
export interface ContainerPlan {
  readonly name: string;
  readonly user: { readonly uid: number; readonly gid: number };
  /** Outer folders before inner ones. */
  readonly mounts: readonly Mount[];
  readonly command: readonly string[];
  /** The environment of HERMES in the container; the run's own environment is in its order. */
  readonly env: Readonly<Record<string, string>>;
  readonly network: "bridge" | "none";
  /** Bytes. */
  readonly memory: number;
  readonly pids: number;
  readonly cpuShares: number;
  readonly readOnly: boolean;
}

const UNITS: Readonly<Record<string, number>> = { k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
/** System paths: a container keeps its own, even where the command may change the host's. */
const OWN = /^\/(?:tmp|(?:bin|boot|dev|etc|lib\w*|opt|proc|sbin|sys|usr)(?:\/.*)?)?$/;

export function planFor(
  order: RunOrder,
  section: OciSection,
  name: string,
  hermes: HermesPackage,
): ContainerPlan {
  const { workspace, writable, connect = [], network } = order.deed;
  if (workspace === "/" || !isFolder(workspace))
    throw new HermesError("BACKEND", {
      where: "a container",
      message: `the workspace ${workspace} is not a folder that can be mounted`,
    });
  const same = (paths: readonly string[], rights: { writable: boolean }) =>
    paths
      .filter((path) => !OWN.test(path) && existsSync(path))
      .map((path) => ({ source: path, target: path, ...rights }));
  const files = (order.credentialFiles ?? []).map(({ path }) => path);
  const mounts = [
    ...hermes.mounts,
    { source: workspace, target: workspace, writable: true },
    ...same([...writable, ...connect], { writable: true }),
    ...same(files, { writable: false }),
  ];
  return {
    name,
    user: { uid: process.getuid!(), gid: process.getgid!() },
    mounts: [...new Map(mounts.map((mount) => [mount.target, mount])).values()].sort(
      (a, b) => depth(a.target) - depth(b.target),
    ),
    command: [...hermes.command, "remote"],
    env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: homedir() },
    network: network === "none" ? "none" : (section.network ?? "bridge"),
    memory: bytes(section.memory),
    pids: section.pids,
    cpuShares: section.cpu_shares,
    readOnly: section.read_only,
  };
}

export function surroundingsOf({ readOnly, network, memory, pids, cpuShares }: ContainerPlan): RemoteHost {
  return { readOnly, network, memory, pids, cpuShares };
}

function bytes(size: string): number {
  const [, number = "", unit = ""] = /^(\d+)([kmg]?)$/i.exec(size)!;
  return Number(number) * (UNITS[unit.toLowerCase()] ?? 1);
}

function depth(path: string): number {
  return path.split("/").length;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
