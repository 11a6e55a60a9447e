import type { FencePlan, PathRule } from "../kernel/fence-plan.js";
import { bit } from "../protection.js";

/** Rights of linux/landlock.h, and the ABI version since which each is known. */
const FILE_RIGHTS = {
  execute: [0, 1],
  writeFile: [1, 1],
  readFile: [2, 1],
  readFolder: [3, 1],
  removeFolder: [4, 1],
  removeFile: [5, 1],
  makeCharacterDevice: [6, 1],
  makeFolder: [7, 1],
  makeFile: [8, 1],
  makeSocket: [9, 1],
  makeFifo: [10, 1],
  makeBlockDevice: [11, 1],
  makeLink: [12, 1],
  /** Moving and linking between folders. */
  refer: [13, 2],
  truncate: [14, 3],
  deviceControl: [15, 5],
} as const;
export type Right = keyof typeof FILE_RIGHTS;

const READ: readonly Right[] = ["execute", "readFile", "readFolder"];
const WRITE = (Object.keys(FILE_RIGHTS) as Right[]).filter((right) => !READ.includes(right));
const USE_DEVICE: readonly Right[] = ["readFile", "writeFile", "truncate", "deviceControl"];

const PORTS_SINCE = 4;
export const BIND_TCP = 1n;
export const CONNECT_TCP = 2n;
const SCOPES_SINCE = 6;
export const ABSTRACT_SOCKETS = 1n;
const SIGNALS = 2n;

/** Programs, libraries and settings: readable whenever reading is restricted, or no program would start. */
const SYSTEM = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/etc",
  "/opt",
  "/nix",
  "/proc",
  "/sys",
  "/dev",
];
/** What programs write to without changing anything. */
const DEVICES = [
  "/dev/null",
  "/dev/zero",
  "/dev/full",
  "/dev/random",
  "/dev/urandom",
  "/dev/tty",
  "/dev/ptmx",
  "/dev/pts",
];

/** What Landlock is to allow. A list that is absent restricts nothing. */
export interface Allowance {
  readonly readable?: readonly string[];
  /** Where names may be seen, though nothing may be read. */
  readonly listable?: readonly string[];
  /** The system is readable too, and what is not readable cannot be executed either. */
  readonly system?: boolean;
  readonly writable?: readonly string[];
  readonly connectPorts?: readonly number[];
  readonly bindPorts?: readonly number[];
  /** No signals to, and no abstract sockets of, processes outside. */
  readonly scoped: boolean;
}

export type LandlockPart = Pick<
  FencePlan,
  "pathRules" | "portRules" | "handledFiles" | "handledPorts" | "scopes"
>;

export function rightsBits(rights: readonly Right[], abi = Number.POSITIVE_INFINITY): bigint {
  return rights.reduce((sum, right) => {
    const [place, since] = FILE_RIGHTS[right];
    return abi >= since ? sum | (1n << BigInt(place)) : sum;
  }, 0n);
}

/** The ruleset for a kernel that knows this version of Landlock's interface. */
export function landlockRules(allowed: Allowance, abi: number): LandlockPart {
  const bits = (rights: readonly Right[]) => rightsBits(rights, abi);
  const { readable, writable, connectPorts, bindPorts } = allowed;
  const pathRules: PathRule[] = [];
  const add = (paths: readonly string[], rights: readonly Right[]) =>
    pathRules.push(...paths.map((path) => ({ path, access: bits(rights) })));
  let handledFiles = 0n;
  if (writable) {
    handledFiles |= bits(WRITE);
    add(writable, [...READ, ...WRITE]);
    add(DEVICES, USE_DEVICE);
    // A debugger writes to its program's memory. Where /proc is not the program's own, root could write to all of it.
    const needs = bit("pid_namespace") | bit("mount_namespace");
    pathRules.push({ path: "/proc", access: bits(["readFile", "writeFile", "truncate"]), needs });
  }
  if (readable) {
    // Where moving is not handled, Landlock forbids it altogether: handled and allowed it only keeps its own rules.
    const rights = allowed.system ? READ : READ.filter((right) => right !== "execute");
    handledFiles |= bits([...rights, "refer"]);
    add([...(allowed.system ? SYSTEM : []), ...readable], rights);
    add(allowed.listable ?? [], ["readFolder"]);
    add(writable ?? ["/"], ["refer"]);
  }
  const ports = abi >= PORTS_SINCE;
  const portRules = [
    ...(connectPorts ?? []).map((port) => ({ port, access: CONNECT_TCP })),
    ...(bindPorts ?? []).map((port) => ({ port, access: BIND_TCP })),
  ];
  return {
    pathRules,
    handledFiles,
    portRules: ports ? portRules : [],
    handledPorts: ports ? (connectPorts ? CONNECT_TCP : 0n) | (bindPorts ? BIND_TCP : 0n) : 0n,
    scopes: allowed.scoped && abi >= SCOPES_SINCE ? ABSTRACT_SOCKETS | SIGNALS : 0n,
  };
}

/** What an allowance needs that this version cannot give: said in words, undefined when nothing. */
export function beyond(
  allowed: Pick<Allowance, "connectPorts" | "bindPorts">,
  abi: number,
): string | undefined {
  if (abi === 0) return undefined;
  if ((allowed.connectPorts || allowed.bindPorts) && abi < PORTS_SINCE)
    return `this kernel's Landlock has version ${abi}, and TCP ports need ${PORTS_SINCE} (Linux 6.7)`;
  return undefined;
}
