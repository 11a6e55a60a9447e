/** Where a run took place: what its paths are relative to. */
export interface RunFolders {
  readonly workspace: string;
  readonly home: string;
}

/** As policies write them (policy/yaml/variables.ts). */
export const WORKSPACE = "$" + "{workspace}";
export const TMP = "$" + "{tmp}";
const TMP_FOLDERS = ["/tmp", "/var/tmp"];

/** A path with this run's folders in it written as the variables that policies have for them. */
export function placed(path: string, { workspace, home }: RunFolders, pid: number): string {
  const own = `/proc/${pid}`;
  if (path === own || path.startsWith(`${own}/`))
    return `/proc/self${path.slice(own.length).replace(/^\/task\/\d+/, "/task/1")}`;
  const roots: readonly (readonly [string, string])[] = [
    [workspace, WORKSPACE],
    [home, "~"],
    ...TMP_FOLDERS.map((folder): [string, string] => [folder, TMP]),
  ];
  let best: readonly [string, string] | undefined;
  for (const root of roots)
    if (root[0].length > 1 && (path === root[0] || path.startsWith(`${root[0]}/`)))
      if (!best || root[0].length > best[0].length) best = root;
  return best ? best[1] + path.slice(best[0].length) : path;
}

/** How freely names are generalised depends on where they are. */
export type PathClass =
  | "system"
  | "configuration"
  | "workspace"
  | "home"
  | "temporary"
  | "kernel"
  | "devices"
  | "elsewhere";

export interface GeneralisationLimits {
  /** From so many names in one folder on, every name in it is meant. */
  readonly files: number;
  /** From so many patterns in several folders below on, everything below is meant. */
  readonly below: number;
  /** How many folders must come before a wildcard. */
  readonly depth: number;
}

export const GENERALISATION_LIMITS: Readonly<Record<PathClass, GeneralisationLimits>> = {
  system: { files: 3, below: 4, depth: 2 },
  configuration: { files: 6, below: 12, depth: 2 },
  workspace: { files: 3, below: 6, depth: 0 },
  home: { files: 8, below: 12, depth: 2 },
  temporary: { files: 6, below: 8, depth: 1 },
  kernel: { files: 8, below: 16, depth: 3 },
  devices: { files: 99, below: 99, depth: 9 },
  elsewhere: { files: 8, below: 16, depth: 2 },
};

export function pathClass(path: string): PathClass {
  if (path.startsWith(WORKSPACE)) return "workspace";
  if (path.startsWith("~")) return "home";
  if (path.startsWith(TMP)) return "temporary";
  if (/^\/(usr|lib|lib32|lib64|bin|sbin|opt|nix|snap)(\/|$)/.test(path)) return "system";
  if (/^\/etc(\/|$)/.test(path)) return "configuration";
  if (/^\/(proc|sys)(\/|$)/.test(path)) return "kernel";
  return path.startsWith("/dev/") ? "devices" : "elsewhere";
}

/** The variable that a placed path begins with, if any, and the names after it. */
export function namesOf(path: string): { readonly root: string; readonly names: string[] } {
  const root = /^(?:\$\{\w+\}|~)/.exec(path)?.[0] ?? "";
  return { root, names: path.slice(root.length).split("/").filter(Boolean) };
}
