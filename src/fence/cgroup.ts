import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { HermesError } from "../errors.js";

/** Limits that a group of processes has together. */
export interface GroupLimits {
  /** Bytes. */
  readonly memory?: number;
  readonly processes?: number;
  /** How many CPUs' worth of time. */
  readonly cpus?: number;
}

const PERIOD_US = 100_000;
const PREFIX = "hermes-";

/** A controller's files, per version of cgroups: what is written to set a limit. */
const CONTROLLERS: readonly {
  readonly name: string;
  readonly wants: keyof GroupLimits;
  readonly v1: (value: number) => readonly Setting[];
  readonly v2: (value: number) => readonly Setting[];
}[] = [
  {
    name: "memory",
    wants: "memory",
    v1: (bytes) => [
      { file: "memory.limit_in_bytes", text: String(bytes) },
      { file: "memory.memsw.limit_in_bytes", text: String(bytes), optional: true },
    ],
    v2: (bytes) => [
      { file: "memory.max", text: String(bytes) },
      { file: "memory.swap.max", text: "0", optional: true },
    ],
  },
  {
    name: "pids",
    wants: "processes",
    v1: (count) => [{ file: "pids.max", text: String(count) }],
    v2: (count) => [{ file: "pids.max", text: String(count) }],
  },
  {
    name: "cpu",
    wants: "cpus",
    v1: (cpus) => [
      { file: "cpu.cfs_period_us", text: String(PERIOD_US) },
      { file: "cpu.cfs_quota_us", text: String(Math.round(cpus * PERIOD_US)) },
    ],
    v2: (cpus) => [{ file: "cpu.max", text: `${Math.round(cpus * PERIOD_US)} ${PERIOD_US}` }],
  },
];

interface Setting {
  readonly file: string;
  readonly text: string;
  /** Not every kernel has it. */
  readonly optional?: boolean;
}

/** Where a hierarchy of cgroups is mounted, and where in it we are. */
interface Hierarchy {
  readonly version: 1 | 2;
  /** Of version 1; version 2 has all in one. */
  readonly controllers: readonly string[];
  readonly mount: string;
  readonly own: string;
}

/** The cgroups that one session is kept in: made before it starts, removed when no process of it is left. */
export class Cgroups {
  readonly #folders: string[] = [];

  constructor(limits: GroupLimits, id: string) {
    const wanted = CONTROLLERS.filter(({ wants }) => limits[wants] !== undefined);
    const hierarchies = findHierarchies();
    try {
      for (const { controllers, ...place } of placesFor(
        wanted.map(({ name }) => name),
        hierarchies,
      )) {
        const folder = makeFolder(place, controllers, id);
        this.#folders.push(folder);
        for (const { name, wants, ...versions } of wanted)
          if (controllers.includes(name))
            for (const setting of versions[`v${place.version}`](limits[wants]!)) apply(folder, setting);
      }
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  /** What a process writes itself into. */
  get procsFiles(): string[] {
    return this.#folders.map((folder) => join(folder, "cgroup.procs"));
  }

  /** How many processes the kernel ended because there was no memory left for them. */
  get killedForMemory(): number {
    const counts = this.#folders.flatMap((folder) =>
      ["memory.events", "memory.oom_control"].map((file) =>
        Number(/^oom_kill (\d+)$/m.exec(readOr(join(folder, file), ""))?.[1] ?? 0),
      ),
    );
    return Math.max(0, ...counts);
  }

  remove(): void {
    for (const folder of this.#folders.splice(0)) {
      try {
        rmdirSync(folder);
      } catch {
        // A process is just leaving it: the next run of anybody removes it.
      }
    }
  }
}

function unavailable(why: string, cause?: unknown): HermesError {
  return new HermesError("UNAVAILABLE", { what: "cgroup limits", why }, { cause });
}

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return otherwise;
  }
}

/** proc(5), cgroups(7): mounts that are shown in part (as in containers) say which part. */
function findHierarchies(): Hierarchy[] {
  const own = readOr("/proc/self/cgroup", "")
    .split("\n")
    .flatMap((line) => {
      const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
      return path === "" ? [] : [{ controllers: controllers.split(",").filter(Boolean), path }];
    });
  return readOr("/proc/self/mountinfo", "")
    .split("\n")
    .flatMap((line) => {
      const match = /^\d+ \d+ \S+ (\S+) (\S+) .* - (cgroup2?) \S+ (\S+)$/.exec(line);
      if (!match) return [];
      const [, root = "/", mount = "", kind, options = ""] = match;
      const here = own.find(({ controllers }) =>
        kind === "cgroup2"
          ? controllers.length === 0
          : controllers.some((c) => options.split(",").includes(c)),
      );
      if (!here) return [];
      const inside = here.path.startsWith(root) ? here.path.slice(root === "/" ? 0 : root.length) : "/";
      const place = { mount, own: join(mount, inside) };
      return [
        kind === "cgroup2"
          ? {
              version: 2 as const,
              controllers: readOr(join(mount, "cgroup.controllers"), "").trim().split(" "),
              ...place,
            }
          : { version: 1 as const, controllers: here.controllers, ...place },
      ];
    });
}

/** For each hierarchy that is needed, which of the wanted controllers it serves. */
function placesFor(wanted: readonly string[], hierarchies: readonly Hierarchy[]): Hierarchy[] {
  const places = new Map<Hierarchy, string[]>();
  for (const name of wanted) {
    const hierarchy = hierarchies.find(({ controllers }) => controllers.includes(name));
    if (!hierarchy) throw unavailable(`no ${name} controller is mounted here`);
    places.set(hierarchy, [...(places.get(hierarchy) ?? []), name]);
  }
  return [...places].map(([hierarchy, controllers]) => ({ ...hierarchy, controllers }));
}

/**
 * Below our own cgroup where that is possible. In version 2 a cgroup with processes in it, such as ours, passes no
 * controllers on, so it is often one further up that takes ours: one that was delegated to us, or any for root.
 */
function makeFolder(
  place: Omit<Hierarchy, "controllers">,
  controllers: readonly string[],
  id: string,
): string {
  let failure: unknown;
  for (let parent = place.own; parent.length >= place.mount.length; parent = dirname(parent)) {
    const folder = join(parent, `${PREFIX}${id}`);
    try {
      removeForgotten(parent);
      if (place.version === 2) passOn(parent, controllers);
      mkdirSync(folder);
      return folder;
    } catch (error) {
      failure ??= error;
      if (place.version === 1) break;
    }
  }
  const errno = (failure as NodeJS.ErrnoException).code ?? "?";
  throw unavailable(
    `no cgroup can be made for ${controllers.join(", ")} (${errno}): run as root, or where one was delegated to this user (systemd-run --user --scope -p Delegate=yes)`,
    failure,
  );
}

function passOn(parent: string, controllers: readonly string[]): void {
  const file = join(parent, "cgroup.subtree_control");
  const passed = readFileSync(file, "utf8").trim().split(" ");
  const missing = controllers.filter((name) => !passed.includes(name));
  if (missing.length > 0) writeFileSync(file, missing.map((name) => `+${name}`).join(" "));
}

/** Those of runs that were killed before they could clean up. A cgroup with a process in it cannot be removed. */
function removeForgotten(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = /^hermes-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      rmdirSync(join(parent, name));
    } catch {
      // Not ours, or not empty.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function apply(folder: string, { file, text, optional }: Setting): void {
  try {
    writeFileSync(join(folder, file), text);
  } catch (cause) {
    const errno = (cause as NodeJS.ErrnoException).code ?? "?";
    if (!optional) throw unavailable(`${file} does not take ${text} (${errno})`, cause);
  }
}
