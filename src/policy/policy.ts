import type {
  CallEvent,
  FunctionEvent,
  FunctionReturnEvent,
  InstructionEvent,
  ReturnEvent,
} from "../event.js";
import type { FenceLevel } from "../protection.js";
import type { Action, Verdict } from "../verdict.js";
import type { FunctionPattern } from "./function-pattern.js";
import type { InstructionPattern } from "./instruction-pattern.js";

/** Event → verdict, whatever language it was written in. Deciding does no I/O and runs on any operating system. */
export interface Policy {
  readonly name: string;
  /** Content hash: every record says which version decided it. */
  readonly version: string;
  /** Where it was loaded from, for error messages. */
  readonly file?: string;
  /** Every file that it was made of: when one of them changes, it is loaded anew. */
  readonly files?: readonly string[];
  /** Names under which its files were looked for, whether there was one or not: another load would look there again. */
  readonly sought?: readonly string[];
  readonly subscription: Subscription;
  /** Comes with every session, and is not among the policies that its user gave. */
  readonly builtIn?: true;
  /** Protections without which a run must not start: names of src/protection.ts. */
  readonly requires?: readonly string[];
  /** What it asks of the fence around the program. */
  readonly fence?: PolicyFence;
  readonly floor?: PolicyFloor;
  /** Files with prototypes of the functions it speaks of (docs/prototypes.md), from its own folder. */
  readonly prototypes?: readonly string[];
  /** Where in the policy's source (file:line) an error that it threw came from. */
  locate?(error: Error): string | undefined;
  /** Undefined means that this policy has nothing to say: allow. */
  decide(event: CallEvent): Verdict | undefined;
  decideReturn(event: ReturnEvent): Verdict | undefined;
  /** A function that one of its interests names is called, or has returned (`event.kind`). */
  decideFunction?(
    event: FunctionEvent | FunctionReturnEvent,
    interest: FunctionInterest,
  ): Verdict | undefined;
  decideInstruction?(event: InstructionEvent, interest: InstructionInterest): Verdict | undefined;
  /** What its answer to a call depends on, where that is the call's flags and one path only. */
  settles?(nr: number): Settling | undefined;
  /** Whether it need not hear again of a call that it allowed and that found nothing: it refuses or allows, and counts none. */
  toldOnce?(nr: number): boolean;
  /**
   * Whether it could refuse this call if only the memory that its arguments point at were another. Absent where that is
   * not known: then it does if it has looked there.
   */
  restsOnMemory?(nr: number): boolean;
  /** What is allowed in it but probably not meant: unreachable rules, patterns that match everything. */
  lint?(): readonly string[];
  /** Why it decides so, line by line, where it can say more than its answer does. */
  why?(event: CallEvent): readonly string[];
}

/** Two calls with the same flags get the same answer when the same patterns match their paths. */
export interface Settling {
  /** As text (match/glob.ts), without braces. */
  readonly patterns: readonly string[];
  /** Not so for these paths. */
  readonly except: readonly string[];
}

/** What holds without the policy being asked. A list that is absent restricts nothing; an empty one allows nothing. */
export interface PolicyFence {
  readonly level?: FenceLevel;
  /** The only folders and files that may be read, besides the system's own. */
  readonly readable?: readonly string[];
  /** The only ones that may be changed. */
  readonly writable?: readonly string[];
  /** Not to be seen at all. */
  readonly hidden?: readonly string[];
  /** The only TCP ports that may be connected to, or listened on. */
  readonly connectPorts?: readonly number[];
  readonly bindPorts?: readonly number[];
  /** A loopback of its own and nothing else, or the host's network. */
  readonly network?: "own" | "host";
  /** Bytes, for all processes together. */
  readonly memory?: number;
  readonly processes?: number;
  /** How many CPUs' worth of time. */
  readonly cpus?: number;
}

/** The most that a policy can permit, where that is known: what a fence may put under it. */
export interface PolicyFloor {
  readonly read?: readonly Reach[];
  readonly write?: readonly Reach[];
  /** TCP ports. */
  readonly connect?: readonly number[];
  readonly bind?: readonly number[];
}

/** A path, or everything below it. */
export interface Reach {
  readonly path: string;
  readonly exact: boolean;
}

/** What a policy wants to see, and how it may answer. */
export interface Subscription {
  readonly calls: ReadonlyMap<number, Interest>;
  /** Decided by the kernel's filter on register arguments alone; they never stop the program. */
  readonly constants: readonly ConstantRule[];
  /** Functions inside the program. */
  readonly functions?: readonly FunctionInterest[];
  readonly instructions?: readonly InstructionInterest[];
}

export interface Interest {
  readonly entry: boolean;
  readonly returns: boolean;
  /** The actions that its answers may have. The fewer, the cheaper the door. */
  readonly actions: ReadonlySet<Action>;
  /** Only calls for whose register arguments one of these sets of tests holds; every call when absent. */
  readonly when?: readonly (readonly ConstantTest[])[];
  /** It looks at registers or stacks, which are seen at the trace door only. */
  readonly inside?: true;
  /** It was named, or its class was: it is to be seen also where the vDSO would serve it without a system call. */
  readonly named?: true;
}

/** Functions of some modules, by name, by place or by their first bytes: see function-pattern.ts. */
export interface FunctionInterest {
  readonly pattern: FunctionPattern;
  readonly entry: boolean;
  readonly returns: boolean;
  readonly actions: ReadonlySet<Action>;
  /** Its place among the policy's own interests, so that the policy finds its handler again. */
  readonly index: number;
  /** It is recorded, whatever is decided. */
  readonly observes?: true;
  /** Not these. */
  readonly except?: readonly FunctionPattern[];
}

/** Instructions by name (`rdtsc`, `cpuid`), or a pattern of bytes or of text: see instruction-pattern.ts. */
export interface InstructionInterest extends InstructionPattern {
  readonly actions: ReadonlySet<Action>;
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
