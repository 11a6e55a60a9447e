import { Held, type Waiting } from "../approval/held.js";
import type { InstructionEvent } from "../event.js";
import type { InstructionWish } from "../policy/stack.js";
import { type Decision, deny } from "../verdict.js";
import { carryOutInstruction } from "./instruction-verdicts.js";
import type { PatternHits, PatternSite } from "./pattern-sites.js";
import { ReachedInstruction, type ReachedScene } from "./reached.js";
import type { Hit, Sites, TakenHit } from "./sites.js";

/** Whoever decides on instructions, and hears of them. */
export interface InstructionHost {
  decide(event: InstructionEvent, wishes: readonly InstructionWish[]): Decision;
  /** The decision, where it is known already; else the question that was asked. */
  ask(
    event: InstructionEvent,
    decision: Decision,
  ): Decision | { readonly id: number; readonly patience: number };
  withdraw(id: number, why: string): void;
  /** What was carried out in the end. */
  record(event: InstructionEvent, decision: Decision): void;
  problem(text: string): void;
}

interface HeldInstruction extends Waiting {
  readonly taken: TakenHit;
  readonly event: ReachedInstruction;
}

/** What happens when a thread reaches an instruction that somebody wants to see. */
export class InstructionHits implements PatternHits {
  readonly #sites: Sites;
  readonly #scene: ReachedScene;
  readonly #host: InstructionHost;
  readonly #held = new Held<HeldInstruction>((question, why) => this.#host.withdraw(question, why));

  constructor(sites: Sites, scene: ReachedScene, host: InstructionHost) {
    this.#sites = sites;
    this.#scene = scene;
    this.#host = host;
  }

  reached(site: PatternSite, hit: Hit): number {
    this.#scene.stop.generation++;
    const event = new ReachedInstruction(this.#scene, site, hit.address);
    const decision = this.#host.decide(event, site.wishes);
    if (decision.action === "ask") {
      const asked = this.#host.ask(event, decision);
      if (!("action" in asked))
        return this.#hold(hit, { event, decision, question: asked.id }, asked.patience);
      this.#carryOut(hit, event, asked);
      return 0;
    }
    const { delay = 0, ...fault } = decision.fault ?? {};
    if (delay > 0) return this.#hold(hit, { event, decision: { ...decision, fault } }, delay);
    this.#carryOut(hit, event, decision);
    return 0;
  }

  #hold(hit: Hit, held: Omit<HeldInstruction, "taken">, milliseconds: number): number {
    this.#held.set(hit.tid, { ...held, taken: this.#sites.take(hit) });
    return Math.max(1, milliseconds);
  }

  #carryOut(hit: Hit, event: ReachedInstruction, decision: Decision): void {
    let done = decision;
    try {
      carryOutInstruction(hit, event, decision);
    } catch (error) {
      const reason = `policy ${decision.policy}: ${(error as Error).message}`;
      this.#host.problem(`${reason}; ${event.name} was denied`);
      done = { ...deny(reason), rule: "not-possible", policy: decision.policy, version: decision.version };
      carryOutInstruction(hit, event, done);
    }
    this.#host.record(event, done);
  }

  /** Its time has come. */
  release(tid: number): boolean {
    const held = this.#held.take(tid);
    if (!held) return false;
    const { taken, event, decision } = held;
    this.#sites.release(taken, (hit) => {
      event.revive();
      this.#carryOut(hit, event, decision);
    });
    return true;
  }

  /** A person has answered these questions. Returns the threads that are decided on now. */
  answered(questions: ReadonlySet<number>, settle: (decision: Decision) => Decision): number[] {
    return this.#held.answered(questions, settle);
  }

  exited(tid: number): void {
    this.#held.gone(tid);
  }
}
