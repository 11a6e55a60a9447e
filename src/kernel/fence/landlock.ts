import { protectionBit } from "../../nouns/protection.js";
import type { FencePlan, PathRule } from "../binding/fence-plan.js";

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
type Right = keyof typeof FILE_RIGHTS;

const READ: readonly Right[] = ["execute", "readFile", "readFolder"];
const WRITE = (Object.keys(FILE_RIGHTS) as Right[]).filter((right) => !READ.includes(right));
const USE_DEVICE: readonly Right[] = ["readFile", "writeFile", "truncate", "deviceControl"];

const MAKE_DEVICE: readonly Right[] = ["makeCharacterDevice", "makeBlockDevice"];

/** Before it, a ruleset about files forbids to move them between folders. */
export const REFER_SINCE = 2;
const PORTS_SINCE = 4;
const BIND_TCP = 1n;
const CONNECT_TCP = 2n;
const SCOPES_SINCE = 6;
const ABSTRACT_SOCKETS = 1n;
const SIGNALS = 2n;

/**
 * Programs, libraries and settings: always readable when reading is restricted. No program could start
 * otherwise.
 */
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
/** Devices that programs write to without changing anything. */
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

/** What Landlock allows. An absent list restricts nothing. */
export interface Allowance {
  readonly readable?: readonly string[];
  /** Folders whose entries may be listed, while reading their files is not allowed. */
  readonly listable?: readonly string[];
  /** Make the system readable too. What is not readable cannot be executed either. */
  readonly system?: boolean;
  readonly writable?: readonly string[];
  readonly connectPorts?: readonly number[];
  readonly bindPorts?: readonly number[];
  /** Forbid signals to, and abstract sockets of, processes outside. */
  readonly scoped: boolean;
  /** Nothing may lead around mounts: no mounting, no device nodes, no look into processes outside. */
  readonly holdsMounts?: boolean;
}

export type LandlockPart = Pick<
  FencePlan,
  "pathRules" | "portRules" | "handledFiles" | "handledPorts" | "scopes"
>;

function rightsBits(rights: readonly Right[], abi = Number.POSITIVE_INFINITY): bigint {
  return rights.reduce((sum, right) => {
    const [place, since] = FILE_RIGHTS[right];
    return abi >= since ? sum | (1n << BigInt(place)) : sum;
  }, 0n);
}

/** The ruleset for a kernel with this Landlock ABI version. */
export function landlockRules(allowed: Allowance, abi: number): LandlockPart {
  const bits = (rights: readonly Right[]) => rightsBits(rights, abi);
  const { readable, writable, connectPorts, bindPorts } = allowed;
  const pathRules: PathRule[] = [];
  const add = (paths: readonly string[], rights: readonly Right[]) =>
    pathRules.push(...paths.map((path) => ({ path, access: bits(rights) })));
  let handledFiles = 0n;
  if (writable) {
    handledFiles |= bits(WRITE);
    add(writable, [
      ...READ,
      ...WRITE.filter((right) => !allowed.holdsMounts || !MAKE_DEVICE.includes(right)),
    ]);
    add(DEVICES, USE_DEVICE);
    // A debugger writes to its program's memory through /proc. If /proc is shared with the host, root could
    // write to every process.
    const needs = protectionBit("pid_namespace") | protectionBit("mount_namespace");
    pathRules.push({ path: "/proc", access: bits(["readFile", "writeFile", "truncate"]), needs });
  }
  if (readable) {
    // A ruleset that does not handle `refer` forbids all moves between folders. Handled and allowed, Landlock
    // still applies its own rules to them.
    const rights = allowed.system ? READ : READ.filter((right) => right !== "execute");
    handledFiles |= bits([...rights, "refer"]);
    add([...(allowed.system ? SYSTEM : []), ...readable], rights);
    add(allowed.listable ?? [], ["readFolder"]);
    add(writable ?? ["/"], ["refer"]);
  }
  if (allowed.holdsMounts && !writable) {
    // Any ruleset about files forbids to mount, and to trace processes outside.
    handledFiles |= bits([...MAKE_DEVICE, "refer"]);
    if (!readable) add(["/"], ["refer"]);
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

/** What an allowance needs that this Landlock version lacks, in words; undefined when nothing is missing. */
export function whyUnsupported(
  allowed: Pick<Allowance, "connectPorts" | "bindPorts">,
  abi: number,
): string | undefined {
  if (abi === 0) return undefined;
  if ((allowed.connectPorts || allowed.bindPorts) && abi < PORTS_SINCE)
    return `this kernel has Landlock version ${abi}, and TCP ports need version ${PORTS_SINCE} (Linux 6.7)`;
  return undefined;
}
