import {
  formatFlags,
  type Syscall,
  type SyscallArguments,
  type SyscallName,
  signalName,
} from "../../abi/index.js";
import { AT_FDCWD } from "../../abi/named.js";
import { type Address, encodeAddress } from "../../nouns/address.js";
import { HermesError } from "../../nouns/errors.js";
import {
  type CallEvent,
  type Descriptor,
  type Kin,
  NO_KIN,
  type PathArgument,
  type ProcessInfo,
  type Receiver,
} from "../../nouns/event.js";
import { callStack, frameOf, NO_MEMORY } from "../../nouns/inside.js";
import { moduleName } from "../function-pattern.js";
import { flagsArgument } from "../match/flags.js";

/** An invented call: for examples in policies, and to try a policy without a kernel. */
export interface MadeUpCall {
  readonly call: Syscall;
  /** In the order of the call's path arguments. */
  readonly paths?: readonly string[];
  readonly requested?: readonly string[];
  /** What the descriptor arguments refer to, by argument name. */
  readonly targets?: Readonly<Record<string, string | undefined>>;
  readonly address?: Address;
  readonly addresses?: readonly Address[];
  readonly controls?: readonly string[];
  readonly receivers?: readonly Receiver[];
  readonly peer?: Address;
  readonly local?: Address;
  readonly argv?: readonly string[] | undefined;
  readonly env?: readonly string[] | undefined;
  readonly flags?: number;
  /** Scalar arguments by name, and the texts of string arguments. */
  readonly args?: Readonly<Record<string, bigint | string>>;
  readonly process?: Partial<ProcessInfo>;
  readonly time?: number;
  /** Frames as texts, the innermost first. */
  readonly stack?: readonly string[];
  /** Its target belongs to the same run. */
  readonly own?: boolean;
}

const ALL_KIN: Kin = {
  listensAt: () => true,
  hasProcess: () => true,
  hasGroup: () => true,
  processBehind: () => MADE_UP_PROCESS.pid,
  hasShared: () => true,
};

const SOMEWHERE = 0x7f00_0000_0000n;

export const MADE_UP_PROCESS: ProcessInfo = {
  pid: 1000,
  parentPid: 1,
  parent: undefined,
  children: [],
  exe: "/usr/bin/example",
  argv: ["example"],
  cwd: "/",
  uid: 1000,
  gid: 1000,
  startTime: 0,
  threads: [1000],
  fds: [],
  maps: [],
};

export function madeUpEvent(made: MadeUpCall): CallEvent {
  const { call } = made;
  const values = call.args.map((argument, i) => registerOf(made, argument.name, i));
  const descriptors = descriptorsOf(made, values);
  const paths = pathsOf(made);
  const process: ProcessInfo = { ...MADE_UP_PROCESS, fds: descriptors, ...made.process };
  const found = flagsArgument(call);
  const frames = (made.stack ?? []).map((text) => frameOf(text, moduleName(process.exe)));
  const first = call.args.findIndex(({ kind }) => kind === "fd" || kind === "dirfd");
  return {
    kind: "syscall",
    name: call.name as SyscallName,
    nr: call.nr,
    classes: call.classes,
    tid: process.pid,
    process,
    time: made.time ?? Date.now() / 1000,
    door: "notify",
    args: argumentsOf(made, values) as SyscallArguments[SyscallName],
    argument: (i) => values[i] ?? 0n,
    path: paths[0]?.path,
    requested: paths[0]?.requested,
    paths,
    fd: first < 0 ? undefined : descriptors.find(({ number }) => BigInt(number) === values[first]),
    address: made.address ?? made.addresses?.[0],
    ...{ addresses: made.addresses ?? (made.address ? [made.address] : []) },
    controls: made.controls ?? [],
    receivers: made.receivers ?? [],
    signal: signalOf(call, values),
    argv: made.argv,
    env: made.env,
    get flags() {
      return found && made.flags !== undefined ? formatFlags(found.table, made.flags).split("|") : [];
    },
    data: undefined,
    kin: made.own ? ALL_KIN : NO_KIN,
    memory: NO_MEMORY,
    stack: (limit) => callStack(frames.slice(0, limit), "start"),
    registers: () => {
      throw new HermesError("NOT_RECORDED", { what: "the registers", event: call.name });
    },
    maps: () => process.maps,
    elapsed: 0,
  };
}

function signalOf(call: Syscall, values: readonly bigint[]): string | undefined {
  const at = call.args.findIndex(({ kind }) => kind === "signal");
  return at < 0 ? undefined : signalName(Number(values[at]));
}

const FIRST_FD = 3;

function registerOf(made: MadeUpCall, name: string, i: number): bigint {
  const given = made.args?.[name];
  if (typeof given === "bigint") return given;
  const argument = made.call.args[i]!;
  const flags = flagsArgument(made.call);
  if (flags?.index === i && argument.kind === "flags") return BigInt(made.flags ?? 0);
  if (argument.kind === "fd") return BigInt(FIRST_FD + i);
  if (argument.kind === "dirfd")
    return made.targets?.[name] === undefined ? BigInt(AT_FDCWD) : BigInt(FIRST_FD + i);
  if (argument.kind === "pid") return 1n;
  if (argument.kind === "sockaddr") return made.address ? SOMEWHERE : 0n;
  return argument.kind === "path" || argument.kind === "argv" || argument.kind === "string" ? SOMEWHERE : 0n;
}

function descriptorsOf(made: MadeUpCall, values: readonly bigint[]): Descriptor[] {
  return made.call.args.flatMap(({ name, kind }, i) => {
    if ((kind !== "fd" && kind !== "dirfd") || values[i]! < 0n) return [];
    const isSocket = made.address !== undefined || made.peer !== undefined || made.local !== undefined;
    const target =
      made.targets && name in made.targets ? made.targets[name] : isSocket ? "socket:[1]" : undefined;
    return [{ number: Number(values[i]), target, kind: kindOf(target), local: made.local, peer: made.peer }];
  });
}

function kindOf(target: string | undefined): Descriptor["kind"] {
  if (target === undefined) return "closed";
  if (target.startsWith("/")) return "file";
  if (target.startsWith("pipe:")) return "pipe";
  return target.startsWith("socket:") ? "socket" : "anonymous";
}

function pathsOf({ call, paths = [], requested, own }: MadeUpCall): PathArgument[] {
  const names = call.args.filter(({ kind }) => kind === "path").map(({ name }) => name);
  return names.flatMap((argument, i) => {
    const path = paths[i];
    if (path === undefined) return [];
    return [{ argument, requested: requested?.[i] ?? path, path, madeHere: () => own === true }];
  });
}

function argumentsOf(made: MadeUpCall, values: readonly bigint[]): Record<string, unknown> {
  const args: Record<string, unknown> = {};
  let path = 0;
  for (const [i, argument] of made.call.args.entries()) {
    const given = made.args?.[argument.name];
    if (argument.kind === "path") args[argument.name] = made.requested?.[path] ?? made.paths?.[path++];
    else if (typeof given === "string") args[argument.name] = given;
    else if (argument.kind === "argv") args[argument.name] = argument.name === "argv" ? made.argv : made.env;
    else if (argument.kind === "sockaddr") args[argument.name] = made.address && encodeAddress(made.address);
    else if (argument.kind === "struct") args[argument.name] = structOf(made.flags ?? 0);
    else args[argument.name] = Number(BigInt.asIntN(argument.width, values[i]!));
  }
  return args;
}

/** open_how and clone_args begin with their flags. */
function structOf(flags: number): Buffer {
  const bytes = Buffer.alloc(24);
  bytes.writeUInt32LE(flags >>> 0);
  return bytes;
}
