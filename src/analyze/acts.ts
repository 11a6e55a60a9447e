import { syscallByName } from "../abi/index.js";
import type { CallEvent } from "../event.js";
import { deedsOf } from "../policy/deeds.js";
import type { Deed, Effect } from "../policy/effects.js";
import { flagBits } from "../policy/match/subject.js";
import { RecordedCall } from "../simulate/recorded-call.js";
import type { CallRecord } from "../trace/records.js";

/** One thing that a recorded call did, in the words that policies use (policy/effects.ts). */
export interface Act {
  readonly does: readonly Effect[];
  /** Canonical; undefined when it falls on no file, or on one that the record does not name. */
  readonly path?: string;
  /** As a trace writes it: `10.0.0.1:80`, `unix:/run/x`, `netlink`. */
  readonly address?: string;
}

interface Plan {
  readonly deeds: readonly PlannedDeed[];
  /** Arguments whose text alone says which deeds hold; undefined when more than that counts. */
  readonly keys: readonly string[] | undefined;
  readonly decided: Map<string, readonly PlannedDeed[]>;
}

interface PlannedDeed {
  readonly deed: Deed;
  /** Whether it falls on the call's first path or descriptor: that one a record has in its canonical form. */
  readonly first: boolean;
}

const NONE: readonly Act[] = [];
/** Harmless without those that came before, and most of what programs do: nobody who reads traces asks for them. */
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
export class Acts {
  readonly #plans = new Map<string, Plan | undefined>();

  of(record: CallRecord): readonly Act[] {
    const plan = this.#planOf(record.name);
    if (!plan) return NONE;
    const deeds = this.#deedsOf(plan, record);
    // A sendmmsg may have many messages, each with an address of its own.
    if (record.addresses)
      return record.addresses.flatMap((address) => deeds.map(({ deed }) => ({ does: deed.does, address })));
    return deeds.map(({ deed, first }) => act(deed, first, record));
  }

  #planOf(name: string): Plan | undefined {
    if (this.#plans.has(name)) return this.#plans.get(name);
    const plan = planOf(name);
    this.#plans.set(name, plan);
    return plan;
  }

  #deedsOf(plan: Plan, record: CallRecord): readonly PlannedDeed[] {
    if (!plan.keys) return holding(plan, record);
    const key = plan.keys.map((name) => record.args[name]).join("\0");
    const known = plan.decided.get(key);
    if (known) return known;
    const deeds = holding(plan, record);
    if (plan.decided.size < 10_000) plan.decided.set(key, deeds);
    return deeds;
  }
}

function planOf(name: string): Plan | undefined {
  const call = syscallByName(name);
  const deeds = (call ? deedsOf(call.nr) : []).filter(({ does }) =>
    does.some((effect) => !PASSED_OVER.has(effect)),
  );
  if (!call || deeds.length === 0) return undefined;
  const isFirst = (argument: string, kinds: readonly string[]) =>
    call.args.find(({ kind }) => kinds.includes(kind))?.name === argument;
  return {
    deeds: deeds.map((deed) => ({
      deed,
      first:
        deed.on.kind === "path"
          ? isFirst(deed.on.argument, ["path"])
          : deed.on.kind === "fd" && isFirst(deed.on.argument, ["fd", "dirfd"]),
    })),
    keys: BY_FLAGS.has(name)
      ? call.args.filter(({ kind }) => kind === "flags" || kind === "struct").map((argument) => argument.name)
      : undefined,
    decided: new Map(),
  };
}

function holding({ deeds }: Plan, record: CallRecord): readonly PlannedDeed[] {
  if (deeds.every(({ deed }) => deed.holds === undefined)) return deeds;
  try {
    const event: CallEvent = new RecordedCall(record);
    const bits = flagBits(deeds[0]!.deed.call, event);
    return deeds.filter(({ deed }) => deed.holds === undefined || deed.holds(bits, event));
  } catch {
    return []; // arguments that make no sense, which the kernel would not have taken either
  }
}

function act({ does, on }: Deed, first: boolean, record: CallRecord): Act {
  const { path, address } = subjectOf(on, first, record);
  return { does, ...(path !== undefined && { path }), ...(address !== undefined && { address }) };
}

function subjectOf(on: Deed["on"], first: boolean, record: CallRecord): { path?: string; address?: string } {
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
