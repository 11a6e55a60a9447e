import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { guardOptions } from "./config/load.js";
import { Guard, type GuardOptions } from "./guard.js";
import type { Files } from "./layer.js";
import { LAYERS } from "./layers.js";
import { osvAdvisories } from "./mcp/osv.js";
import { type McpSection, mcpSection } from "./mcp/section.js";
import { validateWithinDir as isWithinDir } from "./paths/within.js";
import { systemResolve } from "./urls/reach-url.js";

export interface HostOptions extends GuardOptions {
  /** Asks the network (addresses, advisories), and refuses when it does not answer. */
  readonly online?: boolean;
}

/** A guard that knows this machine: its files and, when it may use the network, its names. */
export function hostGuard({ online = false, ...options }: HostOptions = {}): Guard {
  const workspace = resolve(options.workspace ?? ".");
  const { osv } = (options.config?.mcp as McpSection | undefined) ?? mcpSection.parse({});
  const cache = join(options.home ?? homedir(), ".cache/hermes/osv");
  return new Guard(LAYERS, {
    home: homedir(),
    files: hostFiles,
    ...(online && { resolve: systemResolve }),
    ...((online || osv.database) && { advisories: osvAdvisories({ section: osv, cache, online }) }),
    ...options,
    workspace,
  });
}

/** The same, configured by the user's and the project's hermes.yaml. `options` override both. */
export async function configuredGuard(options: HostOptions = {}): Promise<Guard> {
  const workspace = resolve(options.workspace ?? ".");
  const home = options.home ?? homedir();
  return hostGuard({
    ...(await guardOptions({ workspace, home, env: process.env })),
    ...options,
    workspace,
    home,
  });
}

/** Whether a path of this machine stays inside a folder, links resolved. An answer for now: see paths/within.ts. */
export function validateWithinDir(path: string, root: string): boolean {
  return isWithinDir(path, root, hostFiles);
}

/** Larger files are data, not scripts. */
const READ_AT_MOST = 1 << 20;

export const hostFiles: Files = {
  realpath: unlessMissing((path) => realpathSync.native(path)),
  lstat: unlessMissing((path) => {
    const info = lstatSync(path, { throwIfNoEntry: false });
    if (!info) return undefined;
    const kind = info.isFile()
      ? "file"
      : info.isDirectory()
        ? "folder"
        : info.isSymbolicLink()
          ? "link"
          : info.isBlockDevice() || info.isCharacterDevice()
            ? "device"
            : "other";
    return { kind, size: info.size };
  }),
  read: unlessMissing((path) => {
    const info = statSync(path, { throwIfNoEntry: false });
    return !info || info.size > READ_AT_MOST ? undefined : readFileSync(path, "utf8");
  }),
  list: unlessMissing((path) => readdirSync(path)),
};

function unlessMissing<T>(act: (path: string) => T): (path: string) => T | undefined {
  return (path) => {
    try {
      return act(path);
    } catch {
      return undefined;
    }
  };
}
