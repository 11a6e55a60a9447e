import { callNumber } from "../../abi/named.js";
import { Prototypes } from "../../binary/prototypes/index.js";
import { EVENT_FIELD, KIND } from "../../kernel/binding/layout.js";
import { RegisterFile } from "../../kernel/binding/registers.js";
import { Stop } from "../../kernel/binding/stop.js";
import type { ProcessLookup } from "../../kernel/decode/reach-path.js";
import { ModuleFiles } from "../../kernel/process/module-files.js";
import { type Module, type Modules, modulesOf } from "../../kernel/process/modules.js";
import type { Decision } from "../../nouns/verdict.js";
import type { PolicyStack } from "../../policy/stack.js";
import { FunctionCalls, type FunctionCallsHost } from "./calls.js";
import { WatchedFunctions } from "./functions.js";
import { InstructionHits, type InstructionHost } from "./instruction-hits.js";
import type { PatchedMemory } from "./patched-memory.js";
import { PatternSites } from "./pattern-sites.js";
import { ReturnSites } from "./return-sites.js";
import { poolNear, Sites } from "./sites.js";
import { inheritTrapAction, noteTrapAction, RT_SIGACTION, SIGTRAP } from "./traps.js";
import type { Watcher } from "./watcher.js";

const MMAP = callNumber("mmap");
const MPROTECT = callNumber("mprotect");
const PKEY_MPROTECT = callNumber("pkey_mprotect");
/** Calls that bring code into a program. */
export const MAPS_CODE: readonly number[] = [MMAP, MPROTECT, PKEY_MPROTECT];

interface InstrumentOptions {
  readonly memory: ArrayBufferLike;
  readonly processes: ProcessLookup;
  readonly stack: PolicyStack;
  readonly host: FunctionCallsHost;
  readonly instructions: InstructionHost;
  /** The user's own prototypes. */
  readonly prototypes?: readonly string[];
}

/** Watches inside programs: follows their life cycle and new code, and maintains the sites. */
export class Instrument {
  readonly sites: Sites;
  readonly calls: FunctionCalls;
  readonly watchers: Watcher[] = [];
  readonly #files = new ModuleFiles();
  readonly #functions: WatchedFunctions;
  readonly #patterns: PatternSites;
  readonly #hits: InstructionHits;
  readonly #modules = new WeakMap<PatchedMemory, Modules>();
  /** Threads whose exec has not returned yet. */
  readonly #starting = new Set<number>();
  #attaching = false;
  /** Address spaces in which sites are missing because none of their threads was stopped. */
  readonly #behind = new Set<PatchedMemory>();

  constructor({ memory, processes, stack, host, instructions, prototypes }: InstrumentOptions) {
    this.sites = new Sites(memory);
    const returns = new ReturnSites(this.sites, (tid, address) => this.#modulesWith(tid, address));
    const scene = {
      stop: new Stop(memory),
      processes,
      registers: new RegisterFile(memory, EVENT_FIELD.registers),
      modules: (tid: number) => this.#modulesOf(tid),
    };
    this.calls = new FunctionCalls({
      sites: this.sites,
      returns,
      scene,
      files: this.#files,
      host,
      current: (fn, { space }, address) => this.#functions.current(fn, space, address),
    });
    const { problem } = host;
    this.#functions = new WatchedFunctions({
      sites: this.sites,
      returns,
      calls: this.calls,
      prototypes: new Prototypes(prototypes),
      problem: (text) => problem.call(host, text),
    });
    this.#functions.want(stack.functions);
    this.#hits = new InstructionHits(this.sites, scene, instructions);
    const patterns = { sites: this.sites, hits: this.#hits, problem: instructions.problem };
    this.#patterns = new PatternSites(patterns);
    this.#patterns.want(stack.instructions);
  }

  close(): void {
    this.#files.close();
  }

  get neverFound(): string[] {
    return this.#functions.neverFound;
  }

  /** How many functions, and at how many places instructions were found, for the report. */
  get found(): { functions?: number; instructions?: Readonly<Record<string, number>> } {
    const { found } = this.#patterns;
    return {
      ...(this.#functions.count > 0 && { functions: this.#functions.count }),
      ...(Object.keys(found).length > 0 && { instructions: found }),
    };
  }

  // ---------------------------------------------------------------- modules

  #modulesOf(tid: number): Modules {
    const space = this.sites.spaceOf(tid);
    return this.#modules.get(space) ?? this.#look(tid, space);
  }

  #look(tid: number, space: PatchedMemory): Modules {
    const modules = modulesOf(tid, this.#files);
    this.#modules.set(space, modules);
    return modules;
  }

  /** The mappings, read again when they do not contain an address. */
  #modulesWith(tid: number, address: number): Modules {
    const known = this.#modulesOf(tid);
    return known.at(address) ? known : this.#look(tid, this.sites.spaceOf(tid));
  }

  // ---------------------------------------------------------------- lives

  /** Attached to a running program: all sites are placed when its first call returns. */
  attached(pid: number): void {
    this.sites.spaceOf(pid); // its threads are found by it
    this.#attaching = true;
  }

  /** Prepares to detach: the program runs on without us. */
  leave(): void {
    for (const [tid, space] of this.sites.spaces()) this.sites.restore(tid, space);
  }

  /** A thread or process was born, executed another program or ended, according to KIND. */
  lives(kind: number, tid: number, peer: number): void {
    if (kind === KIND.fork) this.forked(tid, peer);
    else if (kind === KIND.exit) this.exited(tid);
    else if (kind === KIND.born) for (const watcher of this.watchers) watcher.born?.(tid);
    else if (kind === KIND.exec) {
      if (peer !== 0 && peer !== tid) for (const watcher of this.watchers) watcher.moved?.(peer, tid);
      this.execed(tid);
    }
  }

  forked(parent: number, child: number): void {
    this.sites.forked(parent, child);
    const modules = this.#modules.get(this.sites.spaceOf(parent));
    if (modules) this.#modules.set(this.sites.spaceOf(child), modules);
  }

  /** A new program is loaded, but its exec has not returned. Only after that can it map memory for us. */
  execed(tid: number): void {
    this.sites.execed(tid);
    this.#starting.add(tid);
  }

  exited(tid: number): void {
    this.#starting.delete(tid);
    for (const watcher of this.watchers) watcher.exited?.(tid);
    this.calls.exited(tid);
    this.#hits.exited(tid);
    this.sites.exited(tid);
  }

  // ---------------------------------------------------------------- new code

  /** True when the return of a call matters. */
  wantsReturn(nr: number): boolean {
    return MAPS_CODE.includes(nr) || nr === RT_SIGACTION;
  }

  /** An awaited call returned: memory was mapped, or a program has started. */
  returned(tid: number, nr: number, result: number, start: number, length: number): void {
    if (this.#attaching || this.#starting.delete(tid)) this.#started(tid);
    else if (nr === RT_SIGACTION) {
      if (result === 0 && start === SIGTRAP) noteTrapAction(tid, this.sites.spaceOf(tid), length);
    } else if (nr === MMAP && result > 0) this.#mapped(tid, result, result + length, true);
    else if (MAPS_CODE.includes(nr) && nr !== MMAP && result === 0)
      this.#mapped(tid, start, start + length, false);
  }

  #started(tid: number): void {
    const space = this.sites.spaceOf(tid);
    inheritTrapAction(tid, space);
    for (const { from } of this.#look(tid, space)) poolNear(tid, space, from);
    for (const watcher of this.watchers) watcher.started?.(tid);
    this.placeAll(tid, space, this.#attaching);
    this.#attaching = false;
    for (const module of this.#modulesOf(tid)) this.#tell(tid, space, module);
  }

  #tell(tid: number, space: PatchedMemory, module: Module): void {
    for (const watcher of this.watchers) watcher.mapped?.(tid, space, module);
  }

  #mapped(tid: number, from: number, to: number, isNew: boolean): void {
    const space = this.sites.spaceOf(tid);
    if (isNew) this.sites.forget(space, from, to);
    else this.sites.check(tid, space, from, to);
    const modules = this.#look(tid, space);
    for (const module of modules) {
      if (module.from >= to || module.to <= from) continue;
      this.#place(tid, space, module, from, to);
      if (isNew) this.#tell(tid, space, module);
    }
    if (this.#behind.delete(space)) this.placeAll(tid, space, true);
  }

  /** Places all sites in all mappings. */
  placeAll(tid: number, space: PatchedMemory, late = false): void {
    for (const module of this.#look(tid, space))
      if (!this.#place(tid, space, module, module.from, module.to, late)) this.#behind.add(space);
  }

  #place(tid: number, space: PatchedMemory, module: Module, from: number, to: number, late = false): boolean {
    const functions = this.#functions.place(tid, space, module, from, to, late);
    return this.#patterns.place(tid, space, module, from, to) && functions;
  }

  /** Replaces the policies. New sites are placed before old ones are removed, so that no call slips by. */
  replaceStack(stack: PolicyStack): void {
    this.#functions.want(stack.functions);
    this.#patterns.want(stack.instructions);
    for (const [tid, space] of this.sites.spaces()) {
      this.placeAll(tid, space, true);
      this.#functions.removeOld(tid, space);
      this.#patterns.removeOld(tid, space);
    }
  }

  // ---------------------------------------------------------------- events

  /** Reports everything that happened before the next event. */
  before(): void {
    for (const watcher of this.watchers) watcher.before?.();
  }

  called(tid: number, ip: bigint): void {
    for (const watcher of this.watchers) watcher.called?.(tid, ip);
  }

  /** A signal is about to be delivered to the program. Returns as the handler does. */
  signal(): number {
    return this.sites.signal();
  }

  release(tid: number): boolean {
    return this.calls.release(tid) || this.#hits.release(tid);
  }

  /** An approver has answered these questions. Returns the threads that are now decided. */
  answered(questions: ReadonlySet<number>, settle: (decision: Decision) => Decision): number[] {
    return [...this.calls.answered(questions, settle), ...this.#hits.answered(questions, settle)];
  }
}
