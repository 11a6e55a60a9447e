import type {
  CallEvent,
  FunctionEvent,
  FunctionReturnEvent,
  InstructionEvent,
  ReturnEvent,
} from "../nouns/event.js";
import type { FenceLevel } from "../nouns/protection.js";
import type { Verdict, VerdictAction } from "../nouns/verdict.js";
import type { FunctionPattern } from "./function-pattern.js";
import type { InstructionPattern } from "./instruction-pattern.js";

/** Event → verdict, in any policy language. Deciding does no I/O and runs on any operating system. */
export interface Policy {
  readonly name: string;
  /** Content hash: every record names the version that decided it. */
  readonly version: string;
  /** The file that it was loaded from, for error messages. */
  readonly file?: string;
  /** All of its files: when one of them changes, the policy is reloaded. */
  readonly files?: readonly string[];
  /** Names that the loader looked up, whether they existed or not: a reload would look there again. */
  readonly sought?: readonly string[];
  readonly subscription: Subscription;
  /** Added to every session by HERMES, not given by the user. */
  readonly builtIn?: true;
  /** Protections that the run requires: names of src/nouns/protection.ts. */
  readonly requires?: readonly string[];
  /** What the policy asks of the fence. */
  readonly fence?: PolicyFence;
  readonly floor?: PolicyFloor;
  /** Rules that change what happens (faults, emulation, redirects), by id: a run says which of them never applied. */
  readonly changing?: readonly string[];
  /** Its rules or its fence name the workspace, so it must be one that may be opened to a program. */
  readonly usesWorkspace?: boolean;
  /** Files with prototypes of its functions (docs/reference/prototypes.md), relative to its own folder. */
  readonly prototypes?: readonly string[];
  /** The place in the policy's source (file:line) that threw an error. */
  locate?(error: Error): string | undefined;
  /** Undefined means that the policy does not object: allow. */
  decide(event: CallEvent): Verdict | undefined;
  decideReturn(event: ReturnEvent): Verdict | undefined;
  /** Decides a call or a return (`event.kind`) of a function that it subscribes to. */
  decideFunction?(
    event: FunctionEvent | FunctionReturnEvent,
    subscription: FunctionSubscription,
  ): Verdict | undefined;
  decideInstruction?(event: InstructionEvent, subscription: InstructionSubscription): Verdict | undefined;
  /** What its verdict on a call depends on, if that is only the call's flags and one path. */
  cacheScope?(nr: number): CacheScope | undefined;
  /**
   * True when it need not see a call again that it allowed and that found nothing: its rules only refuse or
   * allow, and count nothing.
   */
  cachesMissing?(nr: number): boolean;
  /** True when its verdict on an exec depends on nothing but the file and the words of the program, and nothing is counted. */
  cachesExecs?(nr: number): boolean;
  /**
   * True when other memory content behind the arguments could make it refuse this call. Absent where unknown:
   * then true if the policy has read memory.
   */
  restsOnMemory?(nr: number): boolean;
  /**
   * Its rules on reading files, if they depend on nothing but the path. A view of the files can hold them (kernel/view).
   * `isOwn`: what lies at this path, or below it, can only belong to the run, except in folders from outside that the rule excepts.
   */
  readRules?(isOwn: IsOwn): ReadRules | NotStatic;
  /** How each of its rules is held, if a view holds this of them, or nothing. */
  tiers?(held: HeldByView | undefined): readonly RuleTier[];
  /** Valid but probably unintended: unreachable rules, patterns that match everything. */
  lint?(): readonly string[];
  /** Explains a decision, line by line. */
  why?(event: CallEvent): readonly string[];
}

/** Whether files there can only belong to the run. `excepts` says which folders from outside the rule is not about. */
export type IsOwn = (path: string, excepts?: (folder: string) => boolean) => boolean;

/** Rules on reading files by path alone. */
export interface ReadRules {
  /** Folders that must be the run's own, because a rule refuses the files of others there. */
  readonly ownFolders: readonly string[];
  /** Where files lie that may not be read, as text (match/glob.ts); some of these may be read by an exception. */
  readonly patterns: readonly string[];
  /** The rule that refuses to read this file or to list this folder; undefined: no rule does. */
  refusal(path: string): ReadRefusal | undefined;
  /** Whether something below a folder whose content is refused may be read by an exception. */
  excepts(folder: string): boolean;
  /** Its rules on changing files by their descriptors. */
  readonly openFiles: OpenFileRules | NotStatic;
  /** The policy without the stops that are needless because of what a view holds. */
  released(held: HeldByView): Policy;
}

/** Rules on files that are open already: they may be changed by a descriptor in these places, and nowhere else. */
export interface OpenFileRules {
  /** Folders and devices, as absolute paths; undefined: everywhere. */
  readonly changeable: readonly string[] | undefined;
}

/** What a view holds of a policy, beside its rules on reading files. */
export interface HeldByView {
  /** Some of the files that may not be read are symbolic links: no mount hides those. */
  readonly hasLinks: boolean;
  /** The rules on files that are open. */
  readonly openFiles: boolean;
}

export interface ReadRefusal {
  readonly policy: string;
  readonly rule: string;
  readonly errno: string;
  readonly reason?: string;
}

/** Where a rule is held: from free to dear. */
export interface RuleTier {
  readonly rule: string;
  readonly action: string;
  /** The kernel's filter decides these calls alone. */
  readonly filter: readonly string[];
  /** Mounts hold it for these calls, without a stop. */
  readonly view: readonly string[];
  /** These calls stop, and HERMES decides. */
  readonly stops: readonly string[];
  /** Why calls stop for it. */
  readonly why?: string;
}

/** Why rules on files need a decision at each call. */
export interface NotStatic {
  readonly why: string;
}

/** Two calls with the same flags get the same verdict if the same patterns match their paths. */
export interface CacheScope {
  /** As text (match/glob.ts), without braces. */
  readonly patterns: readonly string[];
  /** Paths for which this does not hold. */
  readonly except: readonly string[];
}

/**
 * Restrictions that hold without asking the policy. An absent list restricts nothing; an empty one allows
 * nothing.
 */
export interface PolicyFence {
  readonly level?: FenceLevel;
  /** The only folders and files that may be read, besides the system's own. */
  readonly readable?: readonly string[];
  /** The only ones that may be changed. */
  readonly writable?: readonly string[];
  /** What a strict fence leaves writable beside the workspace, where it exists. */
  readonly alsoWritable?: readonly string[];
  /** Paths that the program cannot see. */
  readonly hidden?: readonly string[];
  /** The only TCP ports that may be connected to, or listened on. */
  readonly connectPorts?: readonly number[];
  readonly bindPorts?: readonly number[];
  /** A private loopback and nothing else, or the host's network. */
  readonly network?: "own" | "host";
  /** Bytes, for all processes together. */
  readonly memory?: number;
  readonly processes?: number;
  /** CPU time, in CPUs. */
  readonly cpus?: number;
  /** Names, or patterns with `*`, of variables that a clean environment keeps. */
  readonly keepEnv?: readonly string[];
  /** Variables that the program gets. */
  readonly setEnv?: Readonly<Record<string, string>>;
}

/** The upper bound of what a policy permits, where known: the fence can enforce it. */
export interface PolicyFloor {
  readonly read?: readonly PathReach[];
  readonly write?: readonly PathReach[];
  /** TCP ports. */
  readonly connect?: readonly number[];
  readonly bind?: readonly number[];
}

/** A path, or everything below it. */
export interface PathReach {
  readonly path: string;
  readonly exact: boolean;
}

/** The events that a policy needs, and the actions that it may return. */
export interface Subscription {
  readonly calls: ReadonlyMap<number, CallSubscription>;
  /** Decided by the kernel's filter on register arguments alone, without stopping the program. */
  readonly constants: readonly ConstantRule[];
  /** Functions inside the program. */
  readonly functions?: readonly FunctionSubscription[];
  readonly instructions?: readonly InstructionSubscription[];
}

export interface CallSubscription {
  readonly entry: boolean;
  readonly returns: boolean;
  /** The actions that it may return. The fewer, the cheaper the door. */
  readonly actions: ReadonlySet<VerdictAction>;
  /** Only calls whose register arguments satisfy one of these sets of tests; every call when absent. */
  readonly when?: readonly (readonly ConstantTest[])[];
  /** It reads registers or stacks, which only the trace door can provide. */
  readonly inside?: true;
  /**
   * The policy names the call or its class: it must be seen even where the vDSO would serve it without a
   * system call.
   */
  readonly named?: true;
}

/** Functions of certain modules, by name, by address or by their first bytes: see function-pattern.ts. */
export interface FunctionSubscription {
  readonly pattern: FunctionPattern;
  readonly entry: boolean;
  readonly returns: boolean;
  readonly actions: ReadonlySet<VerdictAction>;
  /** Its index among the policy's subscriptions, by which the policy finds its handler. */
  readonly index: number;
  /** Record it regardless of the decision. */
  readonly observes?: true;
  /** Except these. */
  readonly except?: readonly FunctionPattern[];
}

/** Instructions by name (`rdtsc`, `cpuid`), or a pattern of bytes or of text: see instruction-pattern.ts. */
export interface InstructionSubscription extends InstructionPattern {
  readonly actions: ReadonlySet<VerdictAction>;
  readonly index: number;
}

/** Refuse (or kill for) a call whose register arguments have these constant values. */
export interface ConstantRule {
  readonly id: string;
  readonly nr: number;
  readonly tests: readonly ConstantTest[];
  readonly action: "deny" | "kill";
  readonly errno: number;
  readonly reason?: string;
}

export interface ConstantTest {
  readonly arg: number;
  readonly width: 32 | 64;
  readonly op: "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "in" | "masked";
  readonly value: bigint | bigint[];
  readonly mask?: bigint;
  /** For lt, le, gt and ge: the argument is a signed number. */
  readonly signed?: boolean;
}
