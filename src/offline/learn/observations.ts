import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename } from "node:path";
import { signalNumber } from "../../abi/index.js";
import { DEFAULT_COVERS, type Effect } from "../../policy/effects.js";
import type { CallRecord, ForkRecord, HeaderRecord, TraceRecord } from "../../record/trace/records.js";
import { makesTemporary } from "../analyze/files.js";
import { NetworkStatistics } from "../analyze/network.js";
import { ProcessHistory, type TracedProcess } from "../analyze/processes.js";
import { type RecordedEffect, RecordedEffects } from "../analyze/recorded-effects.js";
import { Parameters } from "./parameters.js";
import { placed, type RunFolders } from "./path-class.js";
import { addTo, nothingYet, restore, type Sighting, type StoredSighting, store } from "./sighting.js";

export interface Run {
  readonly started: string;
  readonly command: readonly string[];
}

/** A file that was used in one way. */
export interface FileUse {
  readonly word: Effect;
  /** With variables for the run's own folders, and what the command line named left open. */
  readonly path: string;
  /** It was made by a call that makes sure that it is new: a temporary file, most likely. */
  temporary: boolean;
  /** The same with nothing left open. */
  readonly exact: string;
  /** As it really was, to tell secrets by. */
  readonly real: string;
  readonly seen: Sighting;
}

export interface ProgramUse {
  readonly path: string;
  readonly argv: readonly string[];
  /** The program that the run began with: its user chose the arguments. */
  readonly top: boolean;
  /** It was looked for and not there. */
  readonly absent: boolean;
  readonly seen: Sighting;
}

export interface PeerUse {
  readonly word: "connect" | "bind";
  readonly address: string;
  /** Names that name servers gave for it. */
  readonly names: readonly string[];
  readonly exe: string;
  readonly seen: Sighting;
}

/** What falls on nothing that has a name: signals, namespaces … */
interface OtherUse {
  readonly word: Effect;
  /** Of signals: the number. */
  readonly detail: string;
  readonly seen: Sighting;
}

interface Stored {
  readonly hermes: "learned";
  readonly version: 1;
  readonly runs: readonly Run[];
  readonly files: readonly (readonly [Effect, string, string, string, boolean, StoredSighting])[];
  readonly programs: readonly (readonly [string, readonly string[], boolean, boolean, StoredSighting])[];
  readonly peers: readonly (readonly [PeerUse["word"], string, readonly string[], string, StoredSighting])[];
  readonly others: readonly (readonly [Effect, string, StoredSighting])[];
  readonly calls: readonly string[];
  readonly policy?: string;
}

const ON_NOTHING = new Set<Effect>(["signal", "ptrace", "mount", "namespace", "setuid", "settime"]);
/** What a learned policy decides on: what its default covers, and what it refuses when it was never seen. */
const COVERED = new Set<Effect>([...DEFAULT_COVERS, ...ON_NOTHING]);
const EPHEMERAL = "ephemeral";
/** The mode of a folder that mkdtemp(3) makes. */

/** What programs were seen doing, over one or several runs: what a policy is learned from. */
export class Observations {
  readonly runs: Run[] = [];
  readonly files = new Map<string, FileUse>();
  readonly programs = new Map<string, ProgramUse>();
  readonly peers = new Map<string, PeerUse>();
  readonly others = new Map<string, OtherUse>();
  /** System calls that were made. */
  readonly calls = new Set<string>();
  /** Hash of the policy that was last written from these: whether a person has changed it since. */
  policy: string | undefined;

  /** A further run; its records go to what this returns. */
  begin(options: ObserverOptions = {}): Observer {
    return new Observer(this, this.runs.length, options);
  }

  toJson(): string {
    const stored: Stored = {
      hermes: "learned",
      version: 1,
      runs: this.runs,
      files: [...this.files.values()].map((f) => [
        f.word,
        f.path,
        f.exact,
        f.real,
        f.temporary,
        store(f.seen),
      ]),
      programs: [...this.programs.values()].map((p) => [p.path, p.argv, p.top, p.absent, store(p.seen)]),
      peers: [...this.peers.values()].map((p) => [p.word, p.address, p.names, p.exe, store(p.seen)]),
      others: [...this.others.values()].map((o) => [o.word, o.detail, store(o.seen)]),
      calls: [...this.calls].sort(),
      ...(this.policy !== undefined && { policy: this.policy }),
    };
    return `${JSON.stringify(stored)}\n`;
  }

  static fromJson(text: string): Observations {
    const stored = JSON.parse(text) as Stored;
    if (stored.hermes !== "learned" || stored.version !== 1)
      throw new Error("not what hermes learn has written");
    const all = new Observations();
    all.runs.push(...stored.runs);
    for (const [word, path, exact, real, temporary, seen] of stored.files)
      all.addFile({ word, path, exact, real, temporary, seen: restore(seen) });
    for (const [path, argv, top, absent, seen] of stored.programs)
      all.addProgram({ path, argv, top, absent, seen: restore(seen) });
    for (const [word, address, names, exe, seen] of stored.peers)
      all.addPeer({ word, address, names, exe, seen: restore(seen) });
    for (const [word, detail, seen] of stored.others) all.addOther({ word, detail, seen: restore(seen) });
    for (const name of stored.calls) all.calls.add(name);
    all.policy = stored.policy;
    return all;
  }

  addFile(use: FileUse): void {
    const known = merge(this.files, `${use.word} ${use.path}`, use);
    known.temporary ||= use.temporary;
  }

  addProgram(use: ProgramUse): ProgramUse {
    return merge(this.programs, [use.path, use.top, use.absent, ...use.argv].join("\0"), use);
  }

  addPeer(use: PeerUse): void {
    merge(this.peers, [use.word, use.address, use.names.join(), use.exe].join(" "), use);
  }

  addOther(use: OtherUse): void {
    merge(this.others, `${use.word} ${use.detail}`, use);
  }
}

function merge<T extends { readonly seen: Sighting }>(all: Map<string, T>, key: string, use: T): T {
  const known = all.get(key);
  if (!known) {
    all.set(key, use);
    return use;
  }
  addTo(known.seen, use.seen);
  return known;
}

interface ObserverOptions {
  /** Where the run took place, when the trace does not say. */
  readonly surroundings?: Partial<RunFolders>;
  /** Look at what this policy refused, and at nothing else. */
  readonly refusedBy?: string;
}

/** Takes the records of one run. */
class Observer {
  readonly #all: Observations;
  readonly #run: number;
  readonly #effects = new RecordedEffects();
  readonly #processes = new ProcessHistory();
  readonly #network = new NetworkStatistics();
  /** Local addresses of sockets: listening there is binding there, too. */
  readonly #locals = new Map<string, string>();
  #surroundings: RunFolders;
  #parameters = new Parameters([], "/", []);
  /** Programs that were run by a process whose parent the trace has not named yet. */
  readonly #ofUnknown = new Map<number, Sighting>();
  /** Whether the program has been started: its user chose that command line. */
  #started = false;
  readonly #refusedBy: string | undefined;
  #denied = 0;
  #begun = false;

  constructor(all: Observations, run: number, { surroundings, refusedBy }: ObserverOptions) {
    this.#all = all;
    this.#run = run;
    this.#refusedBy = refusedBy;
    this.#surroundings = { workspace: process.cwd(), home: homedir(), ...surroundings };
  }

  /** How many calls were refused. */
  get denied(): number {
    return this.#denied;
  }

  take(record: TraceRecord): void {
    if (record.kind === "header") {
      this.#begin(record);
      return;
    }
    // Hand-made traces may have no header.
    if (!this.#begun) this.#begin({ started: new Date(record.time * 1000).toISOString(), command: [] });
    if (record.kind === "fork") this.#forked(record);
    else if (record.kind === "exec") this.#processes.execed(record);
    else if (record.kind === "exit") this.#processes.exited(record);
    else if (record.kind === "syscall") this.#call(record);
  }

  #begin({ started, command, cwd, home }: Pick<HeaderRecord, "started" | "command" | "cwd" | "home">): void {
    this.#begun = true;
    this.#all.runs.push({ started, command });
    const workspace = realPath(cwd ?? this.#surroundings.workspace);
    this.#surroundings = { workspace, home: realPath(home ?? this.#surroundings.home) };
    this.#parameters = new Parameters(command, workspace, [workspace]);
  }

  /** A child may be seen before the call that made it has returned. */
  #forked(record: ForkRecord): void {
    this.#processes.forked(record);
    const exe = this.#processes.of({ pid: record.child, tid: record.child, time: record.time }).parent?.exe;
    if (exe) this.#ofUnknown.get(record.child)?.by.add(basename(exe));
    this.#ofUnknown.delete(record.child);
  }

  #call(record: CallRecord): void {
    const refused = record.action === "deny" || record.action === "kill";
    if (refused) this.#denied++;
    const process = this.#processes.of(record);
    this.#network.take(record, process);
    if (this.#refusedBy === undefined ? refused : !refused || record.policy !== this.#refusedBy) return;
    this.#all.calls.add(record.name);
    this.#listening(record, process);
    for (const effect of this.#effects.of(record)) this.#note(effect, record, process);
  }

  #note(act: RecordedEffect, record: CallRecord, process: TracedProcess): void {
    const { does, path, address } = act;
    if (!does.some((effect) => COVERED.has(effect))) return;
    if (path !== undefined && does.includes("exec")) this.#exec(path, record, process);
    else if (path !== undefined) this.#file(act, path, record, process);
    else if (does[0] === "connect" || (does[0] === "bind" && record.name === "bind"))
      this.#peer(does[0], address ?? "other", record, process);
    else if (ON_NOTHING.has(does[0]!)) this.#other(does[0]!, record, process);
  }

  #file({ does }: RecordedEffect, path: string, record: CallRecord, process: TracedProcess): void {
    this.#all.addFile({
      word: wordOf(does),
      path: placed(this.#parameters.open(path), this.#surroundings, record.pid),
      exact: placed(path, this.#surroundings, record.pid),
      real: path,
      temporary: makesTemporary(record),
      seen: this.#seen(record, process),
    });
  }

  #exec(path: string, record: CallRecord, process: TracedProcess): void {
    const argv = Array.isArray(record.args.argv) ? (record.args.argv as readonly string[]) : [];
    const { seen } = this.#all.addProgram({
      path: placed(path, this.#surroundings, record.pid),
      argv: argv.map((word) => (word.startsWith("/") ? placed(word, this.#surroundings, record.pid) : word)),
      top: !this.#started,
      absent: record.errno !== undefined && this.#refusedBy === undefined,
      seen: this.#seen(record, before(process, record)),
    });
    this.#started = true;
    if (process.parent === undefined && process.execs.length < 2) this.#ofUnknown.set(record.pid, seen);
  }

  #peer(word: "connect" | "bind", address: string, record: CallRecord, process: TracedProcess): void {
    const unix = address.startsWith("unix:/");
    const { ownPorts } = this.#network;
    this.#all.addPeer({
      word,
      address: unix
        ? `unix:${placed(address.slice(5), this.#surroundings, record.pid)}`
        : word === "connect" && ownPorts.has(address)
          ? address.replace(/\d+$/, EPHEMERAL)
          : address,
      names: word === "connect" ? this.#network.namesOf(address) : [],
      exe: placed(process.exe, this.#surroundings, record.pid),
      seen: this.#seen(record, process),
    });
  }

  /** A policy is asked again when a bound socket begins to listen, with the port that it got by then. */
  #listening(record: CallRecord, process: TracedProcess): void {
    const { name, target, args } = record;
    if (target === undefined || (record.errno !== undefined && this.#refusedBy === undefined)) return;
    if (name === "bind" && typeof args.addr === "string") this.#locals.set(target, args.addr);
    if (name !== "listen") return;
    const local = this.#locals.get(target) ?? "0.0.0.0:0";
    this.#peer("bind", local.replace(/:0$/, `:${EPHEMERAL}`), record, process);
  }

  #other(word: Effect, record: CallRecord, process: TracedProcess): void {
    const { sig } = record.args;
    const number = typeof sig === "string" ? signalNumber(sig) : sig;
    this.#all.addOther({
      word,
      detail: word === "signal" ? String(number) : "",
      seen: this.#seen(record, process),
    });
  }

  #seen({ time }: CallRecord, { exe }: { readonly exe: string }): Sighting {
    const seen = nothingYet();
    addTo(seen, {
      count: 1,
      first: time,
      last: time,
      by: new Set(exe === "" ? [] : [basename(exe)]),
      runs: new Set([this.#run]),
    });
    return seen;
  }
}

/** Who it was that ran another program: its record comes when that has taken over already. */
function before(process: TracedProcess, { errno }: CallRecord): { readonly exe: string } {
  if (errno !== undefined) return process;
  return process.execs.at(-2) ?? process.parent ?? { exe: "" };
}

/** The word for one thing that was done to a file. Moving and linking it counts as reading it, too (policy/effects.ts). */
function wordOf(does: RecordedEffect["does"]): Effect {
  if (does.includes("write")) return does[0]!;
  return does.includes("list") ? "list" : does.includes("read") ? "read" : does[0]!;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
