import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { HermesError } from "../../nouns/errors.js";

/** Limits that a group of processes shares. */
interface GroupLimits {
  /** Bytes. */
  readonly memory?: number;
  readonly processes?: number;
  /** CPU time, in CPUs. */
  readonly cpus?: number;
}

const PERIOD_US = 100_000;
const PREFIX = "hermes-";

/** A controller's files, per cgroup version, and the text that sets a limit. */
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
  /** Some kernels do not have it. */
  readonly optional?: boolean;
}

/** A mounted cgroup hierarchy, and our place in it. */
interface Hierarchy {
  readonly version: 1 | 2;
  /** Version 1 only; version 2 has all controllers in one hierarchy. */
  readonly controllers: readonly string[];
  readonly mount: string;
  readonly own: string;
}

/** The cgroups of one session: created before it starts, removed after its last process ends. */
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

  /** The cgroup.procs files that a process joins by writing its pid. */
  get procsFiles(): string[] {
    return this.#folders.map((folder) => join(folder, "cgroup.procs"));
  }

  /** How many processes the kernel killed because the group ran out of memory. */
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
        // A process is still leaving the cgroup: the next run removes it.
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

/** proc(5), cgroups(7): a mount that shows a part of a hierarchy (as in containers) names that part. */
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

/** The hierarchies that are needed, each with the wanted controllers that it serves. */
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
 * Creates the group below our own cgroup where possible. In version 2 a cgroup that contains processes, such
 * as ours, passes no controllers on. So often an ancestor takes the group: one delegated to this user, or any
 * for root.
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
    `cannot create a cgroup for ${controllers.join(", ")} (${errno}): run as root, or in a cgroup delegated to this user (systemd-run --user --scope -p Delegate=yes)`,
    failure,
  );
}

function passOn(parent: string, controllers: readonly string[]): void {
  const file = join(parent, "cgroup.subtree_control");
  const passed = readFileSync(file, "utf8").trim().split(" ");
  const missing = controllers.filter((name) => !passed.includes(name));
  if (missing.length > 0) writeFileSync(file, missing.map((name) => `+${name}`).join(" "));
}

/**
 * Removes the cgroups of runs that were killed before they could clean up. The kernel refuses to remove a
 * cgroup that contains a process.
 */
function removeForgotten(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = /^hermes-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      rmdirSync(join(parent, name));
    } catch {
      // It belongs to another user or is not empty.
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
    if (!optional) throw unavailable(`cannot write ${text} to ${file} (${errno})`, cause);
  }
}
