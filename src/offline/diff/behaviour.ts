import type { Facts } from "../analyze/facts.js";
import type { FileFacts } from "../analyze/files.js";
import { patternsOfNames } from "../analyze/shape.js";
import { namesOf, placed, type RunFolders, TMP, WORKSPACE } from "../learn/path-class.js";

/** Something that a run did, under a name by which another run can be compared. */
export interface BehaviourItem {
  readonly name: string;
  /** In how many ways: `read`, `written` … Empty where there is only one. */
  readonly ways: readonly string[];
  /** Who did it, and what else helps to find it. */
  readonly detail: string;
}

/** What is compared, the most telling first. */
export const BEHAVIOUR_KINDS = [
  "peers",
  "listening",
  "secrets",
  "programs",
  "findings",
  "files",
  "syscalls",
  "functions",
] as const;
export type BehaviourKind = (typeof BEHAVIOUR_KINDS)[number];

export type Behaviour = Readonly<Record<BehaviourKind, ReadonlyMap<string, BehaviourItem>>>;

/** What a run did. Folders of the run, process numbers, hashes, versions and random names are left open. */
export function behaviourOf(facts: Facts): Behaviour {
  const { cwd, home } = facts.header ?? {};
  const where: RunFolders = { workspace: cwd ?? "", home: home ?? "" };
  const used = [...facts.files.byPath.values()];
  const temporaries = new Set(
    used.flatMap(({ path, temporary }) => (temporary ? [ofAnyRun(path, where)] : [])),
  );
  const name = (path: string) => shapeOf(ofAnyRun(path, where), temporaries);
  return {
    peers: collect([...facts.network.peers.values()], (peer) => ({
      name: `${peer.direction === "in" ? "from " : ""}${portless(peer.address, facts)}${peer.names.size > 0 ? ` (${[...peer.names].join(", ")})` : ""}`,
      ways: [],
      detail: [...peer.commands].join("; "),
    })),
    listening: collect([...facts.network.listening.values()], ({ address, by }) => ({
      name: portless(address, facts),
      ways: [],
      detail: [...by].join(", "),
    })),
    secrets: collect([...facts.secrets.values()], ({ path, by, reason }) => ({
      name: name(path),
      ways: [],
      detail: `${[...by].join(", ")}: ${reason}`,
    })),
    programs: collect(facts.programs.list(), ({ exe, commands }) => ({
      name: name(exe),
      ways: [],
      detail: commands[0] ?? "",
    })),
    findings: collect(facts.findings(), ({ pattern, title }) => ({ name: pattern, ways: [], detail: title })),
    files: collect(
      used.filter((file) => waysOf(file).length > 0),
      (file) => ({ name: name(file.path), ways: waysOf(file), detail: [...file.by].map(base).join(", ") }),
    ),
    syscalls: collect([...facts.calls.byName.values()], ({ name, count }) => ({
      name,
      ways: [],
      detail: `×${count}`,
    })),
    functions: collect([...facts.functions.byName.values()], ({ name, count }) => ({
      name,
      ways: [],
      detail: `×${count}`,
    })),
  };
}

function collect<T>(items: readonly T[], deedOf: (item: T) => BehaviourItem): Map<string, BehaviourItem> {
  const deeds = new Map<string, BehaviourItem>();
  for (const item of items) {
    const deed = deedOf(item);
    const known = deeds.get(deed.name);
    deeds.set(
      deed.name,
      known ? { ...known, ways: [...new Set([...known.ways, ...deed.ways])].sort() } : deed,
    );
  }
  return deeds;
}

function waysOf({ reads, writes, deletes, execs }: FileFacts): string[] {
  const ways = { read: reads, written: writes, deleted: deletes, run: execs };
  return Object.entries(ways).flatMap(([way, count]) => (count > 0 ? [way] : []));
}

/** With the folders of the run left open. */
function ofAnyRun(path: string, where: RunFolders): string {
  return placed(path.replace(/^\/proc\/\d+(?=\/|$)/, "/proc/self"), where, -1);
}

/** The path as a pattern, to be read: `./node_modules/x`, `~/.npm/_logs/*.log`. */
function shapeOf(path: string, temporaries: ReadonlySet<string>): string {
  const { root, names } = namesOf(path);
  const start = root === WORKSPACE ? "." : root === TMP ? "/tmp" : root;
  const shapes = patternsOfNames(names, { root, temporaries });
  return names.length === 0 ? start || "/" : `${start}/${shapes.join("/").replace(/\\(.)/g, "$1")}`;
}

/** A port that the system chose says nothing. */
function portless(address: string, facts: Facts): string {
  return facts.network.ownPorts.has(address) || address.endsWith(":0")
    ? address.replace(/:\d+$/, ":*")
    : address;
}

function base(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
