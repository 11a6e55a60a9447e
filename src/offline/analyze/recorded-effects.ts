import { syscallByName } from "../../abi/index.js";
import type { CallEvent } from "../../nouns/event.js";
import { callEffects } from "../../policy/call-effects.js";
import type { CallEffect, Effect } from "../../policy/effects.js";
import { flagBits } from "../../policy/match/subject.js";
import type { CallRecord } from "../../record/trace/records.js";
import { RecordedCall } from "../simulate/recorded-call.js";

/** One thing that a recorded call did, in the words that policies use (policy/effects.ts). */
export interface RecordedEffect {
  readonly does: readonly Effect[];
  /** Canonical; undefined when it falls on no file, or on one that the record does not name. */
  readonly path?: string;
  /** As a trace writes it: `10.0.0.1:80`, `unix:/run/x`, `netlink`. */
  readonly address?: string;
}

interface Plan {
  readonly effects: readonly PlannedRecordEffect[];
  /** Arguments whose text alone says which deeds hold; undefined when more than that counts. */
  readonly keys: readonly string[] | undefined;
  readonly decided: Map<string, readonly PlannedRecordEffect[]>;
}

interface PlannedRecordEffect {
  readonly effect: CallEffect;
  /** Whether it falls on the call's first path or descriptor: that one a record has in its canonical form. */
  readonly first: boolean;
}

const NONE: readonly RecordedEffect[] = [];
/** Harmless without the calls before them, and the bulk of every trace: left out of reports. */
const PASSED_OVER = new Set<Effect>([
  "stat",
  "chdir",
  "monitor",
  "read_data",
  "write_data",
  "sync",
  "send",
  "receive",
  "accept",
  "fork",
]);
/** Their deeds depend on flags alone, and there are many of them: decided once for each combination. */
const BY_FLAGS = new Set(["open", "openat", "openat2", "mmap", "clone", "clone3", "renameat2", "unshare"]);

/** What recorded calls did. */
export class RecordedEffects {
  readonly #plans = new Map<string, Plan | undefined>();

  of(record: CallRecord): readonly RecordedEffect[] {
    const plan = this.#planOf(record.name);
    if (!plan) return NONE;
    const effects = this.#effectsOf(plan, record);
    // A sendmmsg may have many messages, each with an address of its own.
    if (record.addresses)
      return record.addresses.flatMap((address) =>
        effects.map(({ effect }) => ({ does: effect.does, address })),
      );
    return effects.map(({ effect, first }) => recordedEffect(effect, first, record));
  }

  #planOf(name: string): Plan | undefined {
    if (this.#plans.has(name)) return this.#plans.get(name);
    const plan = planOf(name);
    this.#plans.set(name, plan);
    return plan;
  }

  #effectsOf(plan: Plan, record: CallRecord): readonly PlannedRecordEffect[] {
    if (!plan.keys) return holding(plan, record);
    const key = plan.keys.map((name) => record.args[name]).join("\0");
    const known = plan.decided.get(key);
    if (known) return known;
    const effects = holding(plan, record);
    if (plan.decided.size < 10_000) plan.decided.set(key, effects);
    return effects;
  }
}

function planOf(name: string): Plan | undefined {
  const call = syscallByName(name);
  const effects = (call ? callEffects(call.nr) : []).filter(({ does }) =>
    does.some((effect) => !PASSED_OVER.has(effect)),
  );
  if (!call || effects.length === 0) return undefined;
  const isFirst = (argument: string, kinds: readonly string[]) =>
    call.args.find(({ kind }) => kinds.includes(kind))?.name === argument;
  return {
    effects: effects.map((effect) => ({
      effect,
      first:
        effect.on.kind === "path"
          ? isFirst(effect.on.argument, ["path"])
          : effect.on.kind === "fd" && isFirst(effect.on.argument, ["fd", "dirfd"]),
    })),
    keys: BY_FLAGS.has(name)
      ? call.args.filter(({ kind }) => kind === "flags" || kind === "struct").map((argument) => argument.name)
      : undefined,
    decided: new Map(),
  };
}

function holding({ effects }: Plan, record: CallRecord): readonly PlannedRecordEffect[] {
  if (effects.every(({ effect }) => effect.holds === undefined)) return effects;
  try {
    const event: CallEvent = new RecordedCall(record);
    const bits = flagBits(effects[0]!.effect.call, event);
    return effects.filter(({ effect }) => effect.holds === undefined || effect.holds(bits, event));
  } catch {
    return []; // arguments that make no sense, which the kernel would not have taken either
  }
}

function recordedEffect({ does, on }: CallEffect, first: boolean, record: CallRecord): RecordedEffect {
  const { path, address } = subjectOf(on, first, record);
  return { does, ...(path !== undefined && { path }), ...(address !== undefined && { address }) };
}

function subjectOf(
  on: CallEffect["on"],
  first: boolean,
  record: CallRecord,
): { path?: string; address?: string } {
  switch (on.kind) {
    case "path":
      return inFileSystem(first ? (record.path ?? record.target) : secondPath(record, on.argument));
    case "fd":
      return inFileSystem(first ? record.target : undefined);
    case "address":
    case "peer":
      return typeof record.args.addr === "string" ? { address: record.args.addr } : {};
    case "socket-file": {
      const address = typeof record.args.addr === "string" ? record.args.addr : "";
      return address.startsWith("unix:/") ? { path: address.slice(5) } : {};
    }
    default:
      return {};
  }
}

/** Pipes, sockets and the like are no files. */
function inFileSystem(path: string | undefined): { path?: string } {
  return path?.startsWith("/") ? { path } : {};
}

function secondPath({ args, paths }: CallRecord, argument: string): string | undefined {
  const requested = args[argument];
  return paths?.[1] ?? (typeof requested === "string" ? requested : undefined);
}
