import { realpathSync } from "node:fs";
import { HermesError } from "../errors.js";
import { type FenceOutcome, type FencePlan, NO_FENCE } from "../kernel/fence-plan.js";
import type { ConstantRule, Policy } from "../policy/policy.js";
import {
  atLeast,
  bit,
  type FenceLevel,
  GROUPS,
  PROTECTIONS,
  type ProtectionName,
  whyNot,
} from "../protection.js";
import { Cgroups } from "./cgroup.js";
import { cleanEnvironment } from "./environment.js";
import { type Floor, floorOf, within } from "./floor.js";
import { type Allowance, beyond, type LandlockPart, landlockRules } from "./landlock.js";
import { ALWAYS_WRITABLE, type Files, isPrivate, mountSteps } from "./mounts.js";
import { combine, commonFolders, commonPorts, type FenceOptions, located } from "./options.js";
import { refusalsOf } from "./refusals.js";

/** What a fence is put around. */
export interface Fenced {
  /** The folder that the program may write to unless something else is said. */
  readonly workspace: string;
  readonly cwd: string;
  /** The file that is executed. */
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Files that are HERMES's own: policies, the trace. */
  readonly ours: readonly string[];
  /** What is to be seen in any case. */
  readonly shown: readonly string[];
  /** Version of Landlock's interface; 0 where there is none. */
  readonly landlock: number;
}

/** What is in force of a fence, and why the rest is not. */
export interface FenceReport {
  readonly level: FenceLevel;
  readonly inForce: readonly string[];
  readonly missing: readonly { readonly name: string; readonly why: string }[];
}

/** One run's fence: from what is asked for and what this machine has to what the launcher does. */
export class Fence {
  readonly level: FenceLevel;
  readonly plan: FencePlan;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the policies permit at most, as far as it became part of the fence. */
  readonly floor: Floor;
  readonly #wanted: ReadonlySet<ProtectionName>;
  readonly #landlockMissing: string | undefined;
  readonly #cgroups: Cgroups | undefined;

  constructor(asked: FenceOptions, policies: readonly Policy[], fenced: Fenced) {
    const all = [asked, ...policies.map((policy) => policy.fence ?? {})];
    const options = combine(all.map((one) => located(one, fenced.cwd)));
    this.level = options.level ?? "standard";
    const strict = atLeast(this.level, "strict");
    this.floor = strict ? floorOf(policies) : {};
    const writable = writableOf(options, this.floor, fenced, strict);
    const allowance = allowanceOf(options, this.floor, fenced, writable, strict);
    const landlock = landlockRules(allowance, fenced.landlock);
    const required = this.#required(options, policies);
    this.#landlockMissing = landlockProblem(options, fenced.landlock);
    this.#wanted = this.#choose(options, landlock);
    this.#checkRequired(required);
    this.env =
      (options.cleanEnv ?? strict) ? cleanEnvironment(fenced.env, options.keepEnv ?? []) : fenced.env;
    this.#cgroups = this.#wanted.has("cgroup")
      ? new Cgroups(options, `${process.pid}-${Math.random().toString(36).slice(2, 10)}`)
      : undefined;
    this.plan = {
      ...NO_FENCE,
      ...landlock,
      wanted: bits(this.#wanted),
      required: bits(new Set(required)),
      mounts: this.#wanted.has("mount_namespace")
        ? mountSteps(filesOf(options, this.floor, fenced, writable ?? []))
        : [],
      cgroups: this.#cgroups?.procsFiles ?? [],
    };
  }

  get noNewPrivs(): boolean {
    return this.level !== "none";
  }

  /** Whether the program has a network of its own, with what its sockets are called there. */
  get hasOwnNetwork(): boolean {
    return this.#wanted.has("net_namespace");
  }

  /** Whether the fence lets happen whatever these policies permit. */
  holds(policies: readonly Policy[]): boolean {
    return within(floorOf(policies), this.floor);
  }

  /** Decided by the filter, whatever policies say. */
  get constants(): readonly ConstantRule[] {
    return refusalsOf(this.level);
  }

  report({ inForce, errnos }: FenceOutcome): FenceReport {
    const wanted = PROTECTIONS.map(({ name }) => name).filter((name) => this.#wanted.has(name));
    const missing: { name: string; why: string }[] = wanted
      .filter((name) => !(inForce & bit(name)))
      .map((name) => ({ name, why: whyNot(name, errnos) }));
    if (this.#landlockMissing && atLeast(this.level, "strict"))
      missing.push({ name: "landlock", why: this.#landlockMissing });
    return {
      level: this.level,
      inForce: wanted.filter((name) => inForce & bit(name)),
      missing,
    };
  }

  /** What a person should hear when the session is over. */
  get problems(): readonly string[] {
    const killed = this.#cgroups?.killedForMemory ?? 0;
    return killed > 0 ? [`${killed} processes were ended by the kernel: the memory limit was reached`] : [];
  }

  close(): void {
    this.#cgroups?.remove();
  }

  // ---------------------------------------------------------------- what there is to be

  #choose(options: FenceOptions, landlock: LandlockPart): ReadonlySet<ProtectionName> {
    const chosen = new Set<ProtectionName>(
      PROTECTIONS.filter((p) => "from" in p && atLeast(this.level, p.from)).map(({ name }) => name),
    );
    if (
      options.network !== "own" &&
      (options.network === "host" || options.connectPorts || options.bindPorts)
    )
      chosen.delete("net_namespace");
    const { handledFiles, handledPorts, scopes } = landlock;
    if (handledFiles | handledPorts | scopes && !this.#landlockMissing) chosen.add("landlock");
    else chosen.delete("landlock");
    if (hasLimits(options)) chosen.add("cgroup");
    return chosen;
  }

  /** What policies and callers require by name, and what they asked for in particular. */
  #required(options: FenceOptions, policies: readonly Policy[]): ProtectionName[] {
    const named = [...(options.requires ?? []), ...policies.flatMap(({ requires = [] }) => requires)];
    const names = named.flatMap((name): readonly string[] => GROUPS[name] ?? [name]);
    const { readable, writable, connectPorts, bindPorts, hidden = [], network } = options;
    if (readable || writable || connectPorts || bindPorts) names.push("landlock");
    if (hidden.length > 0) names.push("mount_namespace");
    if (network === "own") names.push("net_namespace");
    if (hasLimits(options)) names.push("cgroup");
    return PROTECTIONS.map(({ name }) => name).filter((name) => names.includes(name));
  }

  #checkRequired(required: readonly ProtectionName[]): void {
    for (const name of required) {
      if (this.#wanted.has(name)) continue;
      const level = PROTECTIONS.find((p) => p.name === name)! as { from?: FenceLevel };
      const why =
        name === "landlock" && this.#landlockMissing
          ? this.#landlockMissing
          : level.from && !atLeast(this.level, level.from)
            ? `the fence of this run is ${this.level}, and only ${level.from} has it (--fence ${level.from})`
            : name === "cgroup"
              ? "the run has no limit of memory, processes or CPU (--memory, --processes, --cpus)"
              : "the run was told to do without it";
      throw new HermesError("UNAVAILABLE", { what: name, why });
    }
  }
}

/** The launcher could not give what is required. */
export function fenceFailure({ detail, errnos }: FenceOutcome): HermesError {
  const { name } = PROTECTIONS[detail]!;
  return new HermesError("UNAVAILABLE", { what: name, why: whyNot(name, errnos) });
}

function hasLimits({ memory, processes, cpus }: FenceOptions): boolean {
  return memory !== undefined || processes !== undefined || cpus !== undefined;
}

/** A floor may lack what this kernel does not know; what is asked for may not. */
function landlockProblem(asked: FenceOptions, abi: number): string | undefined {
  if (abi === 0) return "the kernel has no Landlock, or it is off (lsm= on the kernel's command line)";
  return beyond(asked, abi);
}

function bits(names: ReadonlySet<ProtectionName>): number {
  return [...names].reduce((sum, name) => sum | bit(name), 0);
}

/** What is said, as far as the policies under a strict fence could permit it at all. */
function allowanceOf(
  options: FenceOptions,
  floor: Floor,
  { program, shown }: Fenced,
  writable: readonly string[] | undefined,
  strict: boolean,
): Allowance {
  const own = strict ? ALWAYS_WRITABLE : [];
  const readable = both(options.readable, floor.readable, commonFolders);
  const connectPorts = both(options.connectPorts, floor.connectPorts, commonPorts);
  const bindPorts = both(options.bindPorts, floor.bindPorts, commonPorts);
  return {
    scoped: strict,
    system: options.readable !== undefined,
    ...(floor.listable && { listable: floor.listable }),
    ...(writable && { writable: [...writable, ...own] }),
    ...(readable && { readable: [...readable, ...(writable ?? []), ...own, program, ...shown] }),
    ...(connectPorts && { connectPorts }),
    ...(bindPorts && { bindPorts }),
  };
}

function both<T>(a: T | undefined, b: T | undefined, common: (a: T, b: T) => T): T | undefined {
  return a === undefined || b === undefined ? (a ?? b) : common(a, b);
}

/**
 * The folders that it is given to change; where none are named, those that the policies let it change; where they do not
 * say, the workspace. What is private stays so, unless it is named.
 */
function writableOf(
  options: FenceOptions,
  { writable }: Floor,
  { workspace }: Fenced,
  strict: boolean,
): readonly string[] | undefined {
  if (options.writable) return both(options.writable, writable, commonFolders);
  if (!strict) return undefined;
  const folders = !writable || writable.includes("/") ? [real(workspace)] : writable;
  // Whoever starts it in the root directory does not mean that it may change everything.
  return folders.filter((path) => path !== "/" && !isPrivate(path));
}

function filesOf(options: FenceOptions, floor: Floor, fenced: Fenced, writable: readonly string[]): Files {
  const { cwd, program, ours, shown } = fenced;
  return {
    writable,
    readable: [
      ...(options.readable ?? []),
      ...(floor.readable ?? []).filter((path) => !isPrivate(path)),
      ...[cwd, program, ...shown].map(real),
    ],
    hidden: [...(options.hidden ?? []), ...ours.map(real)],
    hostNetwork: options.network === "host" || options.connectPorts !== undefined,
  };
}

function real(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
