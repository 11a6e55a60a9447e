import { readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { errnoNumber } from "../abi/index.js";
import type { Address } from "../address.js";
import type { FencePlan } from "../kernel/fence-plan.js";
import { bit } from "../protection.js";
import { type Asked, RENAME_EXCHANGE, ROWS, staysInFolder } from "./demands.js";
import { ABSTRACT_SOCKETS, BIND_TCP, CONNECT_TCP, rightsBits } from "./landlock.js";
import { lies } from "./options.js";
import { folderOf, keyOf, keysAbove, type Place, statOf } from "./place.js";

const EACCES = errnoNumber("EACCES")!;
const EPERM = errnoNumber("EPERM")!;
const EXDEV = errnoNumber("EXDEV")!;
const ENOENT = errnoNumber("ENOENT")!;
const MSG_FASTOPEN = 0x2000_0000;
const AF = { unspecified: 0, ipv4: 2, ipv6: 10 };
const REFER = rightsBits(["refer"]);
/** The rights that mean something for what is not a folder. */
const OF_FILES = rightsBits(["execute", "writeFile", "readFile", "truncate", "deviceControl"]);

/** A call that carries addresses. */
export interface Addressed {
  readonly name: string;
  readonly tid: number;
  readonly addresses: readonly Address[];
  readonly names: readonly (Uint8Array | undefined)[];
  readonly flags: number;
  /** Whether its socket is one of TCP; asked only where that matters. */
  readonly isStream: () => boolean;
  /** Where a socket in the file system is made. */
  readonly place: () => Place | undefined;
}

interface Rule {
  readonly path: string;
  /** What was there when the fence was made. */
  readonly key: string | undefined;
  readonly access: bigint;
  readonly needs: number;
}

/**
 * The same rules as Landlock's, kept by us: a call that we make in the program's place is ours to the kernel, and our
 * own rights have no such limits. `demands.ts` says what each call needs. Where the two could differ, this is the stricter.
 */
export class Mirror {
  readonly #plan: FencePlan;
  readonly #ownNetwork: boolean;
  readonly #handled: bigint;
  readonly #rules: readonly Rule[];
  #inForce: number | undefined;

  /** `given` are descriptors that the program is started with: it may open such files again by name, as it has them. */
  constructor(plan: FencePlan, ownNetwork: boolean, given: readonly number[]) {
    this.#plan = plan;
    this.#ownNetwork = ownNetwork;
    // Moving between folders is forbidden even where it is not handled (landlock(7)).
    this.#handled = plan.handledFiles === 0n ? 0n : plan.handledFiles | REFER;
    this.#rules = [
      ...plan.pathRules.map(({ path, access, needs = 0 }) => ({
        path: real(path),
        key: keyAt(path),
        access,
        needs,
      })),
      ...given.flatMap(ruleOfDescriptor),
    ];
  }

  /** The errno by which the kernel would refuse the program this call because of Landlock, or 0. */
  forbidsFiles(asked: Asked): number {
    const row = ROWS[asked.name];
    if (!row || this.#handled === 0n || asked.places.some(({ error }) => error !== 0)) return 0;
    // A name that is there a moment later is another object than was looked at.
    if (row.refers && asked.places[0]!.object === undefined) return row.earlier(asked) || ENOENT;
    const refusal = row.refers && !staysInFolder(asked) ? this.#referring(asked) : this.#plainly(asked);
    return refusal === 0 ? 0 : row.earlier(asked) || refusal;
  }

  forbidsAddress(asked: Addressed): number {
    const { scopes } = this.#plan;
    for (const address of asked.addresses) {
      if (address.family !== "unix") continue;
      if (!address.abstract && asked.name === "bind" && address.path !== "") {
        const place = asked.place();
        const refusal = place && this.forbidsFiles({ ...asked, mode: 0, places: [place] });
        if (refusal) return refusal;
      }
      const scoped = (scopes & ABSTRACT_SOCKETS) !== 0n && !this.#hasOwnNetwork(asked.tid);
      if (address.abstract && scoped && asked.name !== "bind") return EPERM;
    }
    return asked.names.some((bytes) => bytes && this.#forbidsPort(asked, bytes)) ? EACCES : 0;
  }

  #plainly(asked: Asked): number {
    const lacks = ROWS[asked.name]!.needs(asked).some(({ place, on, rights }) => {
      return rightsBits(rights) & this.#handled & ~this.#granted(place, on, asked.tid);
    });
    return lacks ? EACCES : 0;
  }

  /**
   * Landlock's own rule for two folders: each side needs the right to refer and what the call makes and removes there,
   * and what is moved must not gain a right (current_check_refer_path() in security/landlock/fs.c).
   */
  #referring(asked: Asked): number {
    const { flags, tid } = asked;
    const [from, to] = asked.places as [Place, Place];
    const source = this.#granted(from, "folder", tid);
    const target = this.#granted(to, "folder", tid);
    const missing = ROWS[asked.name]!.needs(asked).map(({ rights }, i) => {
      const needed = (rightsBits(rights) | REFER) & this.#handled;
      return needed & ~(i === 0 ? source : target);
    });
    const gains = (place: Place, there: bigint) => {
      const counted = statOf(place)?.isDirectory() ? this.#handled : this.#handled & OF_FILES;
      return (counted & there & ~this.#granted(place, "object", tid)) !== 0n;
    };
    const exchange = asked.name === "renameat2" && (flags & RENAME_EXCHANGE) !== 0;
    if (missing.some((rights) => (rights & ~REFER) !== 0n)) return EACCES;
    if (missing.some((rights) => rights !== 0n)) return EXDEV;
    return gains(from, target) || (exchange && gains(to, source)) ? EXDEV : 0;
  }

  /** All that the rules grant there. Pipes, sockets and memory files have no place among files: Landlock lets them be. */
  #granted(place: Place, on: "object" | "folder", tid: number): bigint {
    if (!place.path.startsWith("/") || (on === "object" && isMemoryFile(place))) return this.#handled;
    const inForce = this.#protections(tid);
    const holds = inForce & bit("mount_namespace") ? byName(place, on) : byKey(place, on);
    return this.#rules.reduce(
      (sum, rule) => ((rule.needs & ~inForce) === 0 && holds(rule) ? sum | rule.access : sum),
      0n,
    );
  }

  #forbidsPort({ name, flags, isStream }: Addressed, bytes: Uint8Array): boolean {
    const { handledPorts, portRules } = this.#plan;
    const access = name === "bind" ? BIND_TCP : CONNECT_TCP;
    const sends = name !== "bind" && name !== "connect";
    if ((handledPorts & access) === 0n || bytes.length < 4) return false;
    if (sends && (flags & MSG_FASTOPEN) === 0) return false; // TCP does not look at the address
    const family = bytes[0]! | (bytes[1]! << 8);
    // Connecting to no family dissolves a connection; binding to none binds as IPv4 does.
    if (family === AF.unspecified && name === "connect") return false;
    if (family !== AF.ipv4 && family !== AF.ipv6 && family !== AF.unspecified) return false;
    const port = (bytes[2]! << 8) | bytes[3]!;
    return !portRules.some((rule) => rule.port === port && (rule.access & access) !== 0n) && isStream();
  }

  #hasOwnNetwork(tid: number): boolean {
    return this.#ownNetwork && differs(tid, "net");
  }

  /** Of the namespaces that were wanted, those that the program really got. */
  #protections(tid: number): number {
    this.#inForce ??=
      this.#plan.wanted &
      ~(differs(tid, "pid") ? 0 : bit("pid_namespace")) &
      ~(differs(tid, "mnt") ? 0 : bit("mount_namespace"));
    return this.#inForce;
  }
}

function differs(tid: number, namespace: string): boolean {
  try {
    return readlinkSync(`/proc/${tid}/ns/${namespace}`) !== readlinkSync(`/proc/self/ns/${namespace}`);
  } catch {
    return false;
  }
}

/** In a tree of mounts of its own, which the program cannot change, what a rule names keeps its name. */
function byName(place: Place, on: "object" | "folder"): (rule: Rule) => boolean {
  const path = on === "folder" ? folderOf(place.path) : place.path;
  return (rule) => lies(path, rule.path);
}

function byKey(place: Place, on: "object" | "folder"): (rule: Rule) => boolean {
  const keys = new Set(keysAbove(place, on));
  return ({ key }) => key !== undefined && keys.has(key);
}

function keyAt(path: string): string | undefined {
  const info = statSync(path, { throwIfNoEntry: false });
  return info && keyOf(info);
}

function isMemoryFile(place: Place): boolean {
  return place.path.startsWith("/memfd:") && statOf(place)?.nlink === 0;
}

function real(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** As allow_stdio() of native/confine.c has it. */
function ruleOfDescriptor(descriptor: number): Rule[] {
  try {
    const path = readlinkSync(`/proc/self/fd/${descriptor}`);
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1];
    const info = statOf({ path, object: descriptor, parent: undefined, error: 0, slash: false });
    if (flags === undefined || !(info?.isFile() || info?.isCharacterDevice())) return [];
    const mode = Number.parseInt(flags, 8) & 3;
    const access = rightsBits([
      "deviceControl",
      ...(mode === 1 ? [] : (["readFile"] as const)),
      ...(mode === 0 ? [] : (["writeFile", "truncate"] as const)),
    ]);
    return [{ path, key: keyOf(info), access, needs: 0 }];
  } catch {
    return [];
  }
}
