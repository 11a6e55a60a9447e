import { Held, type Waiting } from "../approval/held.js";
import type { FunctionEvent, FunctionReturnEvent } from "../event.js";
import { RegisterFile } from "../kernel/registers.js";
import type { Stop } from "../kernel/stop.js";
import type { FunctionWish } from "../policy/stack.js";
import type { ModuleFiles } from "../process/module-files.js";
import { type Decision, deny } from "../verdict.js";
import { readErrno } from "./errno.js";
import {
  CalledFunction,
  type FunctionFacts,
  type FunctionScene,
  floatsOf,
  type MadeCall,
} from "./function-event.js";
import type { Returns } from "./returns.js";
import type { Hit, Sites, TakenHit } from "./sites.js";
import { carryOutCall, carryOutReturn } from "./verdicts.js";

/** Whoever decides on calls of functions, and hears of them. */
export interface CallsHost {
  decide(event: FunctionEvent, wishes: readonly FunctionWish[]): Decision;
  /** The decision, where it is known already; else the question that was asked. */
  ask(
    event: FunctionEvent,
    decision: Decision,
  ): Decision | { readonly id: number; readonly patience: number };
  withdraw(id: number, why: string): void;
  /** What was carried out in the end. */
  record(event: FunctionEvent, decision: Decision): void;
  recordReturn(event: FunctionReturnEvent, decision: Decision): void;
  problem(text: string): void;
}

/** A record of calls that is written beside. */
export interface CallsWatcher {
  /** A call that was decided on; it will run, unless `runs` is false. What is given back comes along with its return. */
  called(event: CalledFunction, decision: Decision, runs: boolean): object | undefined;
  /** With the event as the function left it, before policies changed what the program sees of it. */
  returned(event: CalledFunction, record: object, errno: () => number | undefined): void;
}

/** A function that is looked at. */
export interface WantedFunction extends FunctionFacts {
  readonly entry: readonly FunctionWish[];
  readonly returns: readonly FunctionWish[];
  /** It is recorded, whatever is decided. */
  readonly isObserved: boolean;
}

interface HeldCall extends Waiting {
  readonly taken: TakenHit;
  readonly event: CalledFunction;
  /** Carries it out when its time has come. */
  readonly finish: (hit: Hit, decision: Decision) => void;
}

export interface CallsOptions {
  readonly sites: Sites;
  readonly returns: Returns;
  readonly scene: FunctionScene;
  readonly files: ModuleFiles;
  readonly host: CallsHost;
  /** The functions that are wanted now may be others than when a call was made. */
  readonly current: (fn: WantedFunction, hit: Hit, address: number) => WantedFunction | undefined;
}

/** What happens at the first instruction of a function that is looked at, and when it returns. */
export class Calls {
  readonly #o: CallsOptions;
  readonly #stop: Stop;
  readonly #held = new Held<HeldCall>((question, why) => this.#o.host.withdraw(question, why));
  watcher: CallsWatcher | undefined;

  constructor(options: CallsOptions) {
    this.#o = options;
    this.#stop = options.scene.stop;
  }

  called(fn: WantedFunction, hit: Hit): number {
    this.#stop.generation++;
    const event = new CalledFunction(this.#o.scene, fn, hit.address);
    const decision = fn.entry.length > 0 ? this.#o.host.decide(event, fn.entry) : PASS;
    const finish = (then: Hit, done: Decision) => this.#enter(fn, then, event, done);
    return this.#decided(hit, event, decision, finish);
  }

  /** Carried out at once, or held: until its time has come, or somebody has answered. */
  #decided(hit: Hit, event: CalledFunction, decision: Decision, finish: HeldCall["finish"]): number {
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

  #enter(fn: WantedFunction, hit: Hit, event: CalledFunction, decision: Decision): void {
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
    const awaits = { returned: (then: Hit) => this.#returned(fn, then, address, made, record) };
    if (!this.#o.returns.await(hit, awaits))
      this.#o.host.problem(`the return of ${fn.name} into code that no file stands for is not seen`);
  }

  #keep(fn: WantedFunction, hit: Hit): MadeCall {
    const registers = new RegisterFile();
    registers.bytes.set(hit.registers.bytes);
    const hasFloats = fn.prototype?.parameters.some(
      ({ type }) => type.kind === "float" || type.kind === "struct",
    );
    return { registers, floats: hasFloats ? floatsOf(hit.tid) : undefined, time: hit.time };
  }

  #returned(
    called: WantedFunction,
    hit: Hit,
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
    // It has happened: there is nothing left to ask about.
    const decision: Decision =
      decided.action === "ask" ? { ...decided, ...deny("a result cannot be asked about") } : decided;
    return this.#decided(hit, event, decision, (then, done) => this.#leave(then, event, done));
  }

  #leave(hit: Hit, event: CalledFunction, decision: Decision): void {
    let done = decision;
    try {
      carryOutReturn(hit, event, decision, this.#o.files);
    } catch (error) {
      done = this.#cannot(event, decision, error as Error);
      carryOutReturn(hit, event, done, this.#o.files);
    }
    this.#o.host.recordReturn(event, done);
  }

  /** What cannot be carried out is refused. */
  #cannot(event: CalledFunction, decision: Decision, error: Error): Decision {
    const reason = `policy ${decision.policy}: ${error.message}`;
    this.#o.host.problem(`${reason}; ${event.name} was denied`);
    return { ...deny(reason), rule: "not-possible", policy: decision.policy, version: decision.version };
  }

  // ---------------------------------------------------------------- held

  /** Its time has come. */
  release(tid: number): boolean {
    const held = this.#held.take(tid);
    if (!held) return false;
    this.#o.sites.release(held.taken, (hit) => {
      held.event.revive();
      held.finish(hit, held.decision);
    });
    return true;
  }

  /** A person has answered these questions. Returns the threads whose calls are decided now. */
  answered(questions: ReadonlySet<number>, settle: (decision: Decision) => Decision): number[] {
    return this.#held.answered(questions, settle);
  }

  /** The thread is gone. */
  exited(tid: number): void {
    this.#held.gone(tid);
  }
}

const PASS: Decision = Object.freeze({ action: "allow", policy: "", version: "" });
