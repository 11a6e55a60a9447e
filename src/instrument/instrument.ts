import type { Processes } from "../decode/reach.js";
import { EVENT_FIELD, KIND } from "../kernel/layout.js";
import { RegisterFile } from "../kernel/registers.js";
import { Stop } from "../kernel/stop.js";
import type { PolicyStack } from "../policy/stack.js";
import { ModuleFiles } from "../process/module-files.js";
import { type Module, type Modules, modulesOf } from "../process/modules.js";
import { Prototypes } from "../prototypes/index.js";
import type { Decision } from "../verdict.js";
import { Calls, type CallsHost } from "./calls.js";
import { Functions } from "./functions.js";
import { InstructionHits, type InstructionHost } from "./instruction-hits.js";
import { PatternSites } from "./pattern-sites.js";
import { Returns } from "./returns.js";
import { poolNear, Sites } from "./sites.js";
import type { Space } from "./space.js";
import { inheritTrapAction, noteTrapAction, RT_SIGACTION, SIGTRAP } from "./traps.js";
import type { Watcher } from "./watcher.js";

const MMAP = 9;
const MPROTECT = 10;
const PKEY_MPROTECT = 329;
/** Calls by which code comes into a program. */
export const MAPS_CODE: readonly number[] = [MMAP, MPROTECT, PKEY_MPROTECT];

export interface InstrumentOptions {
  readonly memory: ArrayBufferLike;
  readonly processes: Processes;
  readonly stack: PolicyStack;
  readonly host: CallsHost;
  readonly instructions: InstructionHost;
  /** Prototypes of the user's own. */
  readonly prototypes?: readonly string[];
}

/** Everything that looks into programs: told of their lives and of new code, it keeps its sites where they belong. */
export class Instrument {
  readonly sites: Sites;
  readonly calls: Calls;
  readonly watchers: Watcher[] = [];
  readonly #files = new ModuleFiles();
  readonly #functions: Functions;
  readonly #patterns: PatternSites;
  readonly #hits: InstructionHits;
  readonly #modules = new WeakMap<Space, Modules>();
  /** Threads whose exec has yet to return. */
  readonly #starting = new Set<number>();
  #attaching = false;
  /** Memories in which something could not be placed because none of their threads was stopped. */
  readonly #behind = new Set<Space>();

  constructor({ memory, processes, stack, host, instructions, prototypes }: InstrumentOptions) {
    this.sites = new Sites(memory);
    const returns = new Returns(this.sites, (tid, address) => this.#modulesWith(tid, address));
    const scene = {
      stop: new Stop(memory),
      processes,
      registers: new RegisterFile(memory, EVENT_FIELD.registers),
      modules: (tid: number) => this.#modulesOf(tid),
    };
    this.calls = new Calls({
      sites: this.sites,
      returns,
      scene,
      files: this.#files,
      host,
      current: (fn, { space }, address) => this.#functions.current(fn, space, address),
    });
    const { problem } = host;
    this.#functions = new Functions({
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

  #look(tid: number, space: Space): Modules {
    const modules = modulesOf(tid, this.#files);
    this.#modules.set(space, modules);
    return modules;
  }

  /** What is mapped, looked at anew when it does not explain an address. */
  #modulesWith(tid: number, address: number): Modules {
    const known = this.#modulesOf(tid);
    return known.at(address) ? known : this.#look(tid, this.sites.spaceOf(tid));
  }

  // ---------------------------------------------------------------- lives

  /** A program that runs already: all is placed when the first of its calls returns. */
  attached(pid: number): void {
    this.sites.spaceOf(pid); // its threads are found by it
    this.#attaching = true;
  }

  /** It is to run on without us. */
  leave(): void {
    for (const [tid, space] of this.sites.spaces()) this.sites.restore(tid, space);
  }

  /** A thread or process was born, became another program or ended: as KIND says. */
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

  /** A new program is in place, but its exec has not returned: only then it can be made to map memory. */
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

  /** Whether the return of a call is of interest. */
  wantsReturn(nr: number): boolean {
    return MAPS_CODE.includes(nr) || nr === RT_SIGACTION;
  }

  /** A call returned that was waited for: memory was mapped, or a program has started. */
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

  #tell(tid: number, space: Space, module: Module): void {
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

  /** Everything that is wanted, in all that is mapped. */
  placeAll(tid: number, space: Space, late = false): void {
    for (const module of this.#look(tid, space))
      if (!this.#place(tid, space, module, module.from, module.to, late)) this.#behind.add(space);
  }

  #place(tid: number, space: Space, module: Module, from: number, to: number, late = false): boolean {
    const functions = this.#functions.place(tid, space, module, from, to, late);
    return this.#patterns.place(tid, space, module, from, to) && functions;
  }

  /** Other policies are in force. What they want is placed before what nobody wants any more goes: nothing slips by. */
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

  /** Whatever happened before the event that is about to be told is told first. */
  before(): void {
    for (const watcher of this.watchers) watcher.before?.();
  }

  called(tid: number, ip: bigint): void {
    for (const watcher of this.watchers) watcher.called?.(tid, ip);
  }

  /** A signal is on its way to the program: as the handler's answers. */
  signal(): number {
    return this.sites.signal();
  }

  release(tid: number): boolean {
    return this.calls.release(tid) || this.#hits.release(tid);
  }

  /** A person has answered these questions. Returns the threads that are decided on now. */
  answered(questions: ReadonlySet<number>, settle: (decision: Decision) => Decision): number[] {
    return [...this.calls.answered(questions, settle), ...this.#hits.answered(questions, settle)];
  }
}
