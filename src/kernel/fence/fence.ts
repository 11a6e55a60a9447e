import { existsSync, realpathSync } from "node:fs";
import { HermesError } from "../../nouns/errors.js";
import { commonFolders } from "../../nouns/path.js";
import {
  atLeast,
  type FenceLevel,
  GROUPS,
  PROTECTIONS,
  type ProtectionName,
  protectionBit,
  whyNot,
} from "../../nouns/protection.js";
import type { ConstantRule, Policy } from "../../policy/policy.js";
import { type FenceOutcome, type FencePlan, type MountStep, NO_FENCE } from "../binding/fence-plan.js";
import type { View, VisiblePlaces } from "../view/view.js";
import { Cgroups } from "./cgroup.js";
import { cleanEnvironment } from "./environment.js";
import { commonFloor, type Floor, within } from "./floor.js";
import { type Allowance, type LandlockPart, landlockRules, REFER_SINCE, whyUnsupported } from "./landlock.js";
import {
  ALWAYS_WRITABLE,
  isPrivate,
  type MountedFiles,
  mountSteps,
  placesOf,
  plainMounts,
  plainPlaces,
} from "./mounts.js";
import { combine, commonPorts, type FenceOptions, withRealPaths } from "./options.js";
import { refusalsOf } from "./refusals.js";

/** The run that a fence is put around. */
interface Fenced {
  /** The folder that the program may write to by default. */
  readonly workspace: string;
  /** Throws if the workspace must not be opened to a program. */
  readonly checkWorkspace?: () => void;
  readonly cwd: string;
  /** The file that the run executes. */
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** HERMES's own files: policies, the trace. */
  readonly ours: readonly string[];
  /** Paths that stay visible in any case. */
  readonly shown: readonly string[];
  /** The Landlock ABI version; 0 without Landlock. */
  readonly landlock: number;
  /** Files that the program may not change in any way. */
  readonly kept?: readonly string[];
  /** Make sure that the program changes nothing outside its writable folders, or do not start: `confinedTo`. */
  readonly confine?: boolean;
  /** Makes the view that holds rules of the policies on reading files. */
  readonly makeView?: (places: VisiblePlaces) => ReturnType<typeof View.of>;
}

/** With these, a program changes nothing outside its writable folders, and nothing of processes outside. */
const CONFINING: readonly ProtectionName[] = ["pid_namespace", "mount_namespace", "landlock"];
/** With these, nothing in a view can be uncovered, and no process outside leads around it. */
function holdingView(level: FenceLevel): readonly ProtectionName[] {
  if (atLeast(level, "strict")) return ["pid_namespace", "mount_namespace", "capabilities", "view"];
  return process.geteuid?.() === 0
    ? ["mount_namespace", "no_administration", "landlock", "view"]
    : ["user_namespace", "mount_namespace", "capabilities", "landlock", "view"];
}
/** Before this version, Landlock lets files be truncated. */
const LANDLOCK_TRUNCATES = 3;

/** The protections in force, and why the others are not. */
interface FenceReport {
  readonly level: FenceLevel;
  readonly inForce: readonly string[];
  readonly missing: readonly { readonly name: string; readonly why: string }[];
}

/** One run's fence: combines the options with what this machine supports into the launcher's orders. */
export class Fence {
  readonly level: FenceLevel;
  readonly plan: FencePlan;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The upper bound of what the policies permit, as far as the fence enforces it. */
  readonly floor: Floor;
  /** The only folders whose files the program can change, certainly; undefined where the kernel may not hold that. */
  readonly confinedTo: readonly string[] | undefined;
  /** What mounts hold of the policies. */
  readonly view: View | undefined;
  /** Why mounts hold nothing, although by their form they could hold rules of the policies. */
  readonly withoutView: string | undefined;
  readonly #wanted: ReadonlySet<ProtectionName>;
  readonly #landlockMissing: string | undefined;
  readonly #cgroups: Cgroups | undefined;

  constructor(asked: FenceOptions, policies: readonly Policy[], fenced: Fenced) {
    const all = [asked, ...policies.map((policy) => policy.fence ?? {})];
    const options = combine(all.map((one) => withRealPaths(one, fenced.cwd)));
    this.level = options.level ?? "standard";
    const strict = atLeast(this.level, "strict");
    this.floor = strict ? commonFloor(policies) : {};
    const writable = writableOf(options, this.floor, fenced, strict);
    const files = filesOf(options, this.floor, fenced, writable ?? []);
    const view = this.#makeView(fenced, files);
    this.view = view && "why" in view ? undefined : view;
    this.withoutView = view && "why" in view ? view.why : undefined;
    const allowance = allowanceOf(options, this.floor, fenced, writable, {
      scoped: strict,
      holdsMounts: this.view !== undefined,
    });
    const landlock = landlockRules(allowance, fenced.landlock);
    this.#landlockMissing = landlockProblem(options, fenced.landlock);
    this.#wanted = this.#choose(options, landlock);
    const confines = fenced.confine === true && strict && fenced.landlock >= LANDLOCK_TRUNCATES;
    this.confinedTo = confines && CONFINING.every((name) => this.#wanted.has(name)) ? writable : undefined;
    const required = [
      ...this.#required(options, policies),
      ...(this.confinedTo ? CONFINING : []),
      ...(this.view ? holdingView(this.level) : []),
    ];
    this.#checkRequired(required);
    const kept =
      (options.cleanEnv ?? strict) ? cleanEnvironment(fenced.env, options.keepEnv ?? []) : fenced.env;
    this.env = { ...kept, ...options.setEnv };
    this.#cgroups = this.#wanted.has("cgroup")
      ? new Cgroups(options, `${process.pid}-${Math.random().toString(36).slice(2, 10)}`)
      : undefined;
    this.plan = {
      ...NO_FENCE,
      ...landlock,
      wanted: bits(this.#wanted),
      required: bits(new Set(required)),
      mounts: this.#mounts(files, fenced.kept ?? []),
      masks: this.view?.masks ?? [],
      cgroups: this.#cgroups?.procsFiles ?? [],
    };
  }

  get noNewPrivs(): boolean {
    return this.level !== "none";
  }

  /** True when the program has its own network namespace, with its own socket names. */
  get hasOwnNetwork(): boolean {
    return this.#wanted.has("net_namespace");
  }

  /** True when the fence permits everything that these policies permit. */
  holds(policies: readonly Policy[]): boolean {
    return within(commonFloor(policies), this.floor);
  }

  /** Rules that the filter decides before any policy. */
  get constants(): readonly ConstantRule[] {
    return refusalsOf(this.level);
  }

  report({ inForce, errnos }: FenceOutcome): FenceReport {
    const wanted = PROTECTIONS.map(({ name }) => name).filter((name) => this.#wanted.has(name));
    const missing: { name: string; why: string }[] = wanted
      .filter((name) => !(inForce & protectionBit(name)))
      .map((name) => ({ name, why: whyNot(name, errnos) }));
    if (this.#landlockMissing && atLeast(this.level, "strict"))
      missing.push({ name: "landlock", why: this.#landlockMissing });
    return {
      level: this.level,
      inForce: wanted.filter((name) => inForce & protectionBit(name)),
      missing,
    };
  }

  /** What to tell the user at the end of the session. */
  get problems(): readonly string[] {
    const killed = this.#cgroups?.killedForMemory ?? 0;
    return killed > 0
      ? [
          `the kernel killed ${killed} ${killed === 1 ? "process" : "processes"}: the memory limit was reached`,
        ]
      : [];
  }

  close(): void {
    this.#cgroups?.remove();
  }

  /** A standard fence gets a view where this kernel can hold it; it changes nothing else for the program. */
  #makeView(
    { makeView, landlock, workspace, kept = [] }: Fenced,
    files: MountedFiles,
  ): ReturnType<typeof View.of> {
    if (atLeast(this.level, "strict")) return makeView?.({ ...placesOf(files), kept });
    const holds = this.level === "standard" && landlock >= REFER_SINCE;
    return holds ? makeView?.({ ...plainPlaces(files, real(workspace)), kept }) : undefined;
  }

  #mounts(files: MountedFiles, kept: readonly string[]): MountStep[] {
    const openFiles = this.view?.openFiles;
    const changeable = openFiles && !("why" in openFiles) ? openFiles.changeable : undefined;
    if (!atLeast(this.level, "strict"))
      return this.view
        ? plainMounts({ own: this.view.own, exposed: this.view.exposedInOwn, changeable, kept })
        : [];
    return mountSteps({ ...files, ...(changeable && { kept }) });
  }

  // ---------------------------------------------------------------- requirements

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
    if (this.view) for (const name of holdingView(this.level)) chosen.add(name);
    return chosen;
  }

  /** Protections that policies and callers require by name, and those that their options imply. */
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
            ? `the fence of this run is ${this.level}, and only ${level.from} has it (use --fence ${level.from})`
            : name === "view"
              ? "some rule on reading needs a decision at each call (hermes policy explain --tiers says which), or this machine cannot hide files"
              : name === "cgroup"
                ? "the run has no limit of memory, processes or CPU (use --memory, --processes or --cpus)"
                : "an option of this run turned it off";
      throw new HermesError("UNAVAILABLE", { what: name, why });
    }
  }
}

/** The error when the launcher could not provide a required protection. */
export function fenceFailure({ detail, errnos }: FenceOutcome): HermesError {
  const { name } = PROTECTIONS[detail]!;
  return new HermesError("UNAVAILABLE", { what: name, why: whyNot(name, errnos) });
}

function hasLimits({ memory, processes, cpus }: FenceOptions): boolean {
  return memory !== undefined || processes !== undefined || cpus !== undefined;
}

/** The floor of the policies may ask for more than this kernel's Landlock has. Explicit options may not. */
function landlockProblem(asked: FenceOptions, abi: number): string | undefined {
  if (abi === 0)
    return "the kernel has no Landlock, or it is off (add landlock to lsm= on the kernel's command line)";
  return whyUnsupported(asked, abi);
}

function bits(names: ReadonlySet<ProtectionName>): number {
  return [...names].reduce((sum, name) => sum | protectionBit(name), 0);
}

/** The options, limited to what the policies under a strict fence permit at most. */
function allowanceOf(
  options: FenceOptions,
  floor: Floor,
  { program, shown }: Fenced,
  writable: readonly string[] | undefined,
  walls: Pick<Allowance, "scoped" | "holdsMounts">,
): Allowance {
  const own = walls.scoped ? ALWAYS_WRITABLE : [];
  const readable = both(options.readable, floor.readable, commonFolders);
  const connectPorts = both(options.connectPorts, floor.connectPorts, commonPorts);
  const bindPorts = both(options.bindPorts, floor.bindPorts, commonPorts);
  return {
    ...walls,
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
 * The writable folders: those named; else those that the policies let the program change; else the workspace.
 * Private folders stay private unless they are named.
 */
function writableOf(
  options: FenceOptions,
  { writable }: Floor,
  { workspace, checkWorkspace }: Fenced,
  strict: boolean,
): readonly string[] | undefined {
  if (options.writable) return both(options.writable, writable, commonFolders);
  if (!strict) return undefined;
  const opened = !writable || writable.includes("/") ? real(workspace) : undefined;
  if (opened !== undefined && opened !== "/") checkWorkspace?.();
  const also = (options.alsoWritable ?? []).filter((path) => existsSync(path)).map(real);
  const folders = opened === undefined ? writable! : [opened, ...also];
  // Starting a program in the root directory does not make the whole system writable.
  return folders.filter((path) => path !== "/" && !isPrivate(path));
}

function filesOf(
  options: FenceOptions,
  floor: Floor,
  fenced: Fenced,
  writable: readonly string[],
): MountedFiles {
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
