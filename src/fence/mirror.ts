import { isInternet } from "../address.js";
import type { CallEvent } from "../event.js";
import type { FencePlan } from "../kernel/fence-plan.js";
import { ABSTRACT_SOCKETS, BIND_TCP, CONNECT_TCP, type Right, rightsBits } from "./landlock.js";
import { lies } from "./options.js";

const STREAM = 1;

/**
 * The same rules as Landlock's, kept by us: a call that we make in the program's place is ours to the kernel, and our
 * own rights have no such limits. Where the two could differ, this is the stricter one.
 */
export class Mirror {
  readonly #plan: FencePlan;
  readonly #ownNetwork: boolean;
  readonly #given: ReadonlySet<string>;

  /** `given` are files that the program was started with, open: it may open them again by name. */
  constructor(plan: FencePlan, ownNetwork: boolean, given: readonly string[]) {
    this.#plan = plan;
    this.#ownNetwork = ownNetwork;
    this.#given = new Set(given);
  }

  /** Whether Landlock would refuse the call if the program made it. `socketType` is asked only for sockets. */
  forbids(event: CallEvent, socketType: () => number): boolean {
    const { address } = event;
    if (address) return this.#forbidsAddress(event, socketType);
    const needs = needsOf(event);
    return event.paths.some(({ path }, i) => {
      const needed = needs[Math.min(i, needs.length - 1)];
      return needed !== undefined && !this.#permits(path, needed);
    });
  }

  #permits(path: string, rights: readonly Right[]): boolean {
    // Pipes, sockets and memory files have no place among files: Landlock leaves them alone.
    if (this.#given.has(path) || !path.startsWith("/") || path.startsWith("/memfd:")) return true;
    const needed = rightsBits(rights) & this.#plan.handledFiles;
    let granted = 0n;
    for (const rule of this.#plan.pathRules) if (lies(path, rule.path)) granted |= rule.access;
    return (needed & ~granted) === 0n;
  }

  #forbidsAddress(event: CallEvent, socketType: () => number): boolean {
    const { handledPorts, portRules, scopes } = this.#plan;
    return event.addresses.some((address) => {
      if (address.family === "unix" && address.abstract)
        return (scopes & ABSTRACT_SOCKETS) !== 0n && !this.#ownNetwork;
      if (address.family === "unix")
        return event.name === "bind" && address.path !== "" && !this.#permits(address.path, ["makeSocket"]);
      if (!isInternet(address)) return false;
      const access = event.name === "bind" ? BIND_TCP : CONNECT_TCP;
      if ((handledPorts & access) === 0n || socketType() !== STREAM) return false;
      return !portRules.some((rule) => rule.port === address.port && (rule.access & access) !== 0n);
    });
  }
}

/** The rights that a call needs at each of its paths; the last entry holds for the rest. */
function needsOf(event: CallEvent): readonly (readonly Right[])[] {
  switch (event.name) {
    case "open":
    case "openat":
    case "openat2":
    case "creat":
      return [toOpen(event.name === "creat" ? ["O_CREAT", "O_WRONLY", "O_TRUNC"] : event.flags)];
    case "truncate":
      return [["truncate"]];
    case "mkdir":
    case "mkdirat":
      return [["makeFolder"]];
    case "mknod":
    case "mknodat":
      return [["makeFile", "makeFifo", "makeSocket"]];
    case "unlink":
    case "rmdir":
    case "unlinkat":
      return [["removeFile", "removeFolder"]];
    case "rename":
    case "renameat":
    case "renameat2":
      return [["removeFile", "removeFolder", "makeFile", "makeFolder"]];
    case "link":
    case "linkat":
      return [[], ["makeFile"]];
    case "symlink":
    case "symlinkat":
      return [["makeLink"]];
    default:
      return [[]];
  }
}

function toOpen(flags: readonly string[]): Right[] {
  const writes = flags.includes("O_WRONLY") || flags.includes("O_RDWR");
  const needs: Right[] = [];
  if (!flags.includes("O_WRONLY")) needs.push(flags.includes("O_DIRECTORY") ? "readFolder" : "readFile");
  if (writes) needs.push("writeFile");
  if (flags.includes("O_TRUNC")) needs.push("truncate");
  if (flags.includes("O_TMPFILE")) needs.push("makeFile");
  return needs;
}
