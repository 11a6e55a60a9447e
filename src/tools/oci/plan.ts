import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { HermesError } from "../../errors.js";
import type { BackendSection } from "../../guard/config/backend.js";
import type { RunOrder } from "../backend.js";
import type { Surroundings } from "../remote/messages.js";
import type { Mount, Package } from "./package.js";

export type OciSection = BackendSection["oci"];

/** What a container is made of, whoever makes it. */
export interface ContainerPlan {
  readonly name: string;
  readonly user: { readonly uid: number; readonly gid: number };
  /** Outer folders before what lies in them. */
  readonly mounts: readonly Mount[];
  readonly command: readonly string[];
  /** Of HERMES in there; the run's own comes with its order. */
  readonly env: Readonly<Record<string, string>>;
  readonly network: "bridge" | "none";
  /** Bytes. */
  readonly memory: number;
  readonly pids: number;
  readonly cpuShares: number;
  readonly readOnly: boolean;
}

const UNITS: Readonly<Record<string, number>> = { k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
/** A container has its own, and keeps it whatever a command may change on the host. */
const OWN = /^\/(?:tmp|(?:bin|boot|dev|etc|lib\w*|opt|proc|sbin|sys|usr)(?:\/.*)?)?$/;

export function planFor(order: RunOrder, section: OciSection, name: string, hermes: Package): ContainerPlan {
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

export function surroundingsOf({ readOnly, network, memory, pids, cpuShares }: ContainerPlan): Surroundings {
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
