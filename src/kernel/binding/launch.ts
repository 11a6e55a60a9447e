import { readFileSync } from "node:fs";
import { errnoName } from "../../abi/index.js";
import { errnoValue } from "../../abi/named.js";
import { HermesError } from "../../nouns/errors.js";
import { decodeText, encodeText } from "../../nouns/text.js";
import {
  encodeFence,
  FENCE_SIZE,
  type FencePlan,
  type Mask,
  type MountChange,
  NO_FENCE,
} from "./fence-plan.js";

/** The launcher's orders, encoded as the plan of native/protocol/plan.h. */
export interface Launch {
  readonly file: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Our descriptors that become the program's 0, 1 and 2; -1 for closed. */
  readonly stdio?: readonly [number, number, number];
  /** Further descriptors that the program inherits, under the same numbers. */
  readonly keepFds?: readonly number[];
  readonly limits?: Readonly<Record<string, readonly [soft: bigint, hard: bigint]>>;
  /** Bit n - 1: the program starts with signal n ignored. */
  readonly ignoredSignals?: bigint;
  readonly blockedSignals?: bigint;
  /** Whether each stdio descriptor is set to blocking; undefined leaves it unchanged. */
  readonly blockingStdio?: readonly (boolean | undefined)[];
  readonly noNewPrivs: boolean;
  readonly fence: FencePlan;
  readonly newSession?: boolean;
  readonly newGroup?: boolean;
  /** Stop the supervisor when the program stops, so that the waiting shell sees a stopped job. */
  readonly followStops?: boolean;
  /** Make rdtsc fault, in the program and in all its descendants. */
  readonly trapCounter?: boolean;
}

const MAGIC = 0x48524d53;
const FLAG = {
  noNewPrivs: 1,
  listener: 2,
  newSession: 4,
  newGroup: 8,
  closeFds: 16,
  followStops: 32,
  trapCounter: 64,
} as const;
const FIELD = {
  magic: 0,
  size: 4,
  flags: 8,
  file: 12,
  directory: 16,
  argc: 20,
  argv: 24,
  envc: 28,
  envp: 32,
  filter: 36,
  filterCount: 40,
  stdio: 44,
  limitCount: 56,
  keptCount: 60,
  kept: 64,
  limits: 320,
  ignored: 704,
  blocked: 712,
  blocking: 720,
  fence: 736,
} as const;
export const PLAN_FIELD = FIELD;
export const PLAN_SIZE = 768 + FENCE_SIZE;
const LIMIT_SIZE = 24;
const MAX_LIMITS = 16;
const MAX_KEPT = 64;

/** getrlimit(2)'s resources by name. */
const RESOURCES = [
  "CPU",
  "FSIZE",
  "DATA",
  "STACK",
  "CORE",
  "RSS",
  "NPROC",
  "NOFILE",
  "MEMLOCK",
  "AS",
  "LOCKS",
  "SIGPENDING",
  "MSGQUEUE",
  "NICE",
  "RTPRIO",
  "RTTIME",
];

export function encodePlan(launch: Launch, filter: Uint8Array, listener: boolean): Uint8Array {
  const argv = launch.argv.map(terminated);
  const env = Object.entries(launch.env).flatMap(([k, v]) =>
    v === undefined ? [] : [terminated(`${k}=${v}`)],
  );
  const parts: { bytes: Uint8Array; at: number }[] = [];
  let end = PLAN_SIZE;
  const put = (bytes: Uint8Array): number => {
    const at = end;
    parts.push({ bytes, at });
    end += (bytes.length + 7) & ~7;
    return at;
  };
  const putAll = (strings: Uint8Array[]): number =>
    put(new Uint8Array(Uint32Array.from(strings.map(put)).buffer));

  const file = put(terminated(launch.file));
  const directory = launch.cwd === undefined ? 0 : put(terminated(launch.cwd));
  const argvAt = putAll(argv);
  const envAt = putAll(env);
  const filterAt = put(filter);
  const fence = encodeFence(launch.fence, { bytes: put, text: (text) => put(terminated(text)) });
  const limits = Object.entries(launch.limits ?? {});
  const kept = launch.keepFds ?? [];
  if (limits.length > MAX_LIMITS || kept.length > MAX_KEPT)
    throw new HermesError("USAGE", {
      message: `at most ${MAX_LIMITS} limits and ${MAX_KEPT} descriptors can be given`,
    });

  const plan = Buffer.alloc(end);
  for (const { bytes, at } of parts) plan.set(bytes, at);
  const flags =
    (launch.noNewPrivs ? FLAG.noNewPrivs : 0) |
    (listener ? FLAG.listener : 0) |
    (launch.newSession ? FLAG.newSession : 0) |
    (launch.newGroup ? FLAG.newGroup : 0) |
    (launch.followStops ? FLAG.followStops : 0) |
    (launch.trapCounter ? FLAG.trapCounter : 0) |
    FLAG.closeFds;
  const words: [number, number][] = [
    [FIELD.magic, MAGIC],
    [FIELD.size, end],
    [FIELD.flags, flags],
    [FIELD.file, file],
    [FIELD.directory, directory],
    [FIELD.argc, argv.length],
    [FIELD.argv, argvAt],
    [FIELD.envc, env.length],
    [FIELD.envp, envAt],
    [FIELD.filter, filterAt],
    [FIELD.filterCount, filter.length / 8],
    [FIELD.limitCount, limits.length],
    [FIELD.keptCount, kept.length],
  ];
  for (const [at, value] of words) plan.writeUInt32LE(value, at);
  plan.set(fence, FIELD.fence);
  for (const [i, fd] of (launch.stdio ?? [0, 1, 2]).entries()) plan.writeInt32LE(fd, FIELD.stdio + i * 4);
  plan.writeBigUInt64LE(launch.ignoredSignals ?? 0n, FIELD.ignored);
  plan.writeBigUInt64LE(launch.blockedSignals ?? 0n, FIELD.blocked);
  for (const i of [0, 1, 2])
    plan.writeInt32LE(Number(launch.blockingStdio?.[i] ?? -1), FIELD.blocking + i * 4);
  for (const [i, fd] of kept.entries()) plan.writeInt32LE(fd, FIELD.kept + i * 4);
  limits.forEach(([name, [soft, hard]], i) => {
    const at = FIELD.limits + i * LIMIT_SIZE;
    plan.writeUInt32LE(resourceNumber(name), at);
    plan.writeBigUInt64LE(BigInt.asUintN(64, soft), at + 8);
    plan.writeBigUInt64LE(BigInt.asUintN(64, hard), at + 16);
  });
  return plan;
}

/** The orders by which a running program's view changes. */
export function encodeViewPlan(masks: readonly Mask[], mounts: readonly MountChange[]): Uint8Array {
  const nothing = { file: "", argv: [], env: {}, noNewPrivs: false };
  return encodePlan({ ...nothing, fence: { ...NO_FENCE, masks, mounts } }, new Uint8Array(0), false);
}

function terminated(text: string): Uint8Array {
  const bytes = encodeText(text);
  if (bytes.includes(0))
    throw new HermesError("USAGE", {
      message: `an argument or variable holds a NUL byte: ${JSON.stringify(text)}`,
    });
  return Buffer.concat([bytes, Buffer.of(0)]);
}

function resourceNumber(name: string): number {
  const number = RESOURCES.indexOf(name.toUpperCase());
  if (number < 0)
    throw new HermesError("USAGE", {
      message: `unknown limit "${name}" (known: ${RESOURCES.join(", ").toLowerCase()})`,
    });
  return number;
}

/** Step names in the order of native/protocol/plan.h, in words for users. */
const STEPS = [
  "",
  "making a session or process group",
  "entering the working directory",
  "setting a resource limit",
  "setting up stdin, stdout and stderr",
  "resetting signals",
  "closing or keeping descriptors",
  "setting no_new_privs",
  "installing the seccomp filter",
  "exec",
  "starting a process",
  "putting up the fence",
  "mounting",
  "allowing a path with Landlock",
  "entering the working directory behind the fence (--writable or --readable shows it)",
  "having the time stamp counter fault",
];

const ENOENT = errnoValue("ENOENT");
const EXEC_STEP = 9;
/** The step at which a required protection failed. */
export const FENCE_STEP = 11;
/** Steps whose detail is a path. */
const PATH_STEPS = [12, 13];

/**
 * Converts a failed launch step to the user's error. Exit status 126 and 127 blame the program, as in shells;
 * 125 blames HERMES.
 */
export function launchError(failure: number, program: string, path?: string): HermesError {
  const step = failure >> 12;
  const errno = failure & 4095;
  const name = errnoName(errno) ?? `errno ${errno}`;
  if (step === EXEC_STEP) {
    return errno === ENOENT
      ? new HermesError("NOT_FOUND", { program })
      : new HermesError("NOT_EXECUTABLE", { program, errno: name });
  }
  const about = PATH_STEPS.includes(step) && path !== undefined ? ` ${path}` : "";
  return new HermesError("LAUNCH", {
    program,
    step: `${STEPS[step] ?? `step ${step}`}${about}`,
    errno: name,
  });
}

/** A text inside the plan. */
export function textInPlan(plan: Uint8Array, at: number): string {
  return decodeText(plan.subarray(at, plan.indexOf(0, at)));
}

const OPEN_FILES = /^Max open files\s+(\d+|unlimited)\s+(\d+|unlimited)/m;

/**
 * Node raises its own soft limit of open files to the hard limit, and children would inherit that. If the
 * limit at our start was not noted, the parent's limit is the best guess.
 */
export function inheritedLimits(noted?: bigint): Record<string, [bigint, bigint]> {
  const limitsOf = (pid: number | "self") => {
    const match = OPEN_FILES.exec(readFileSync(`/proc/${pid}/limits`, "latin1"));
    const value = (text: string) => (text === "unlimited" ? 2n ** 64n - 1n : BigInt(text));
    return match ? { soft: value(match[1]!), hard: value(match[2]!) } : undefined;
  };
  try {
    const hard = limitsOf("self")?.hard;
    const soft = noted ?? limitsOf(process.ppid)?.soft;
    return soft !== undefined && hard !== undefined && soft <= hard ? { NOFILE: [soft, hard] } : {};
  } catch {
    return {};
  }
}
