import { RegisterFile } from "../../kernel/binding/registers.js";
import type { Stop } from "../../kernel/binding/stop.js";
import type { ModuleFiles } from "../../kernel/process/module-files.js";
import type { FunctionEvent, FunctionReturnEvent } from "../../nouns/event.js";
import { type Decision, deny } from "../../nouns/verdict.js";
import { type HeldThread, HeldThreads } from "../../people/approval/held-threads.js";
import type { FunctionSubscriber } from "../../policy/stack.js";
import { readErrno } from "./errno.js";
import {
  CalledFunction,
  type FunctionDescription,
  type FunctionScene,
  floatsOf,
  type MadeCall,
} from "./function-event.js";
import type { ReturnSites } from "./return-sites.js";
import type { SiteHit, Sites, TakenSiteHit } from "./sites.js";
import { carryOutCall, carryOutReturn } from "./verdicts.js";

/** Decides on function calls, and records them. */
export interface FunctionCallsHost {
  decide(event: FunctionEvent, subscribers: readonly FunctionSubscriber[]): Decision;
  /** The decision if it is known already; else the question that was asked. */
  ask(
    event: FunctionEvent,
    decision: Decision,
  ): Decision | { readonly id: number; readonly patience: number };
  withdraw(id: number, why: string): void;
  /** Records the decision that was carried out. */
  record(event: FunctionEvent, decision: Decision): void;
  recordReturn(event: FunctionReturnEvent, decision: Decision): void;
  problem(text: string): void;
}

/** A recorder of calls, independent of decisions. */
interface FunctionCallsWatcher {
  /** A call was decided; it will run unless `runs` is false. The returned object is passed to returned(). */
  called(event: CalledFunction, decision: Decision, runs: boolean): object | undefined;
  /** Called before policies change the result that the program sees. */
  returned(event: CalledFunction, record: object, errno: () => number | undefined): void;
}

/** A function with a site. */
export interface WatchedFunction extends FunctionDescription {
  readonly entry: readonly FunctionSubscriber[];
  readonly returns: readonly FunctionSubscriber[];
  /** Record it regardless of the decision. */
  readonly isObserved: boolean;
}

interface HeldCall extends HeldThread {
  readonly taken: TakenSiteHit;
  readonly event: CalledFunction;
  /** Carries the decision out when the hold ends. */
  readonly finish: (hit: SiteHit, decision: Decision) => void;
}

interface FunctionCallsOptions {
  readonly sites: Sites;
  readonly returns: ReturnSites;
  readonly scene: FunctionScene;
  readonly files: ModuleFiles;
  readonly host: FunctionCallsHost;
  /** The function as the current policies want it: they may have changed since the call. */
  readonly current: (fn: WatchedFunction, hit: SiteHit, address: number) => WatchedFunction | undefined;
}

/** Handles the first instruction and the return of a watched function. */
export class FunctionCalls {
  readonly #o: FunctionCallsOptions;
  readonly #stop: Stop;
  readonly #held = new HeldThreads<HeldCall>((question, why) => this.#o.host.withdraw(question, why));
  watcher: FunctionCallsWatcher | undefined;

  constructor(options: FunctionCallsOptions) {
    this.#o = options;
    this.#stop = options.scene.stop;
  }

  called(fn: WatchedFunction, hit: SiteHit): number {
    this.#stop.generation++;
    const event = new CalledFunction(this.#o.scene, fn, hit.address);
    const decision = fn.entry.length > 0 ? this.#o.host.decide(event, fn.entry) : PASS;
    const finish = (then: SiteHit, done: Decision) => this.#enter(fn, then, event, done);
    return this.#decided(hit, event, decision, finish);
  }

  /**
   * Carries the decision out at once, or holds the thread until its delay is over or an approver has
   * answered.
   */
  #decided(hit: SiteHit, event: CalledFunction, decision: Decision, finish: HeldCall["finish"]): number {
    if (decision.action === "ask") {
      const asked = this.#o.host.ask(event, decision);
      if (!("action" in asked)) {
        const { id: question, patience } = asked;
        this.#held.set(hit.tid, { taken: this.#o.sites.take(hit), decision, event, question, finish });
        return patience;
      }
      finish(hit, asked);
      return 0;
    }
    const delay = decision.fault?.delay ?? 0;
    if (delay > 0) {
      const { delay: _, ...fault } = decision.fault!;
      this.#held.set(hit.tid, {
        taken: this.#o.sites.take(hit),
        decision: { ...decision, fault },
        event,
        finish,
      });
      return Math.max(1, delay);
    }
    finish(hit, decision);
    return 0;
  }

  #enter(fn: WatchedFunction, hit: SiteHit, event: CalledFunction, decision: Decision): void {
    const made = fn.returns.length > 0 || this.watcher ? this.#keep(fn, hit) : undefined;
    let done = decision;
    let runs: boolean;
    try {
      runs = carryOutCall(hit, event, decision, this.#o.files);
    } catch (error) {
      done = this.#cannot(event, decision, error as Error);
      runs = carryOutCall(hit, event, done, this.#o.files);
    }
    this.#o.host.record(event, done);
    const record = this.watcher?.called(event, done, runs);
    if (!made || !runs || (fn.returns.length === 0 && !record)) return;
    const { address } = hit;
    const awaits = { returned: (then: SiteHit) => this.#returned(fn, then, address, made, record) };
    if (!this.#o.returns.await(hit, awaits))
      this.#o.host.problem(`${fn.name} returns into code without a file: its return is not seen`);
  }

  #keep(fn: WatchedFunction, hit: SiteHit): MadeCall {
    const registers = new RegisterFile();
    registers.bytes.set(hit.registers.bytes);
    const hasFloats = fn.prototype?.parameters.some(
      ({ type }) => type.kind === "float" || type.kind === "struct",
    );
    return { registers, floats: hasFloats ? floatsOf(hit.tid) : undefined, time: hit.time };
  }

  #returned(
    called: WatchedFunction,
    hit: SiteHit,
    address: number,
    made: MadeCall,
    record: object | undefined,
  ): number {
    this.#stop.generation++;
    const fn = this.#o.current(called, hit, address);
    const event = new CalledFunction(this.#o.scene, called, address, made);
    if (record) this.watcher?.returned(event, record, () => readErrno(hit, this.#o.files));
    if (!fn || fn.returns.length === 0) return 0;
    const decided = this.#o.host.decide(event, fn.returns);
    // The call has happened already, so asking has no effect.
    const decision: Decision =
      decided.action === "ask"
        ? { ...decided, ...deny("the call has happened already: a person cannot be asked about its result") }
        : decided;
    return this.#decided(hit, event, decision, (then, done) => this.#leave(then, event, done));
  }

  #leave(hit: SiteHit, event: CalledFunction, decision: Decision): void {
    let done = decision;
    try {
      carryOutReturn(hit, event, decision, this.#o.files);
    } catch (error) {
      done = this.#cannot(event, decision, error as Error);
      carryOutReturn(hit, event, done, this.#o.files);
    }
    this.#o.host.recordReturn(event, done);
  }

  /** A decision that cannot be carried out becomes a denial. */
  #cannot(event: CalledFunction, decision: Decision, error: Error): Decision {
    const reason = `policy ${decision.policy}: ${error.message}`;
    this.#o.host.problem(`${reason}; ${event.name} was denied`);
    return { ...deny(reason), rule: "not-possible", policy: decision.policy, version: decision.version };
  }

  // ---------------------------------------------------------------- held

  /** The hold has ended. */
  release(tid: number): boolean {
    const held = this.#held.take(tid);
    if (!held) return false;
    this.#o.sites.release(held.taken, (hit) => {
      held.event.revive();
      held.finish(hit, held.decision);
    });
    return true;
  }

  /** An approver has answered these questions. Returns the threads whose calls are now decided. */
  answered(questions: ReadonlySet<number>, settle: (decision: Decision) => Decision): number[] {
    return this.#held.answered(questions, settle);
  }

  /** The thread has ended. */
  exited(tid: number): void {
    this.#held.gone(tid);
  }
}

const PASS: Decision = Object.freeze({ action: "allow", policy: "", version: "" });
