import type { InstructionEvent } from "../../nouns/event.js";
import { type Decision, deny } from "../../nouns/verdict.js";
import { type HeldThread, HeldThreads } from "../../people/approval/held-threads.js";
import type { InstructionSubscriber } from "../../policy/stack.js";
import { carryOutInstruction } from "./instruction-verdicts.js";
import type { PatternHits, PatternSite } from "./pattern-sites.js";
import { ReachedInstruction, type ReachedScene } from "./reached-instruction.js";
import type { SiteHit, Sites, TakenSiteHit } from "./sites.js";

/** Decides on instructions, and records them. */
export interface InstructionHost {
  decide(event: InstructionEvent, subscribers: readonly InstructionSubscriber[]): Decision;
  /** The decision if it is known already; else the question that was asked. */
  ask(
    event: InstructionEvent,
    decision: Decision,
  ): Decision | { readonly id: number; readonly patience: number };
  withdraw(id: number, why: string): void;
  /** Records the decision that was carried out. */
  record(event: InstructionEvent, decision: Decision): void;
  problem(text: string): void;
}

interface HeldInstruction extends HeldThread {
  readonly taken: TakenSiteHit;
  readonly event: ReachedInstruction;
}

/** Handles a thread that reaches a watched instruction. */
export class InstructionHits implements PatternHits {
  readonly #sites: Sites;
  readonly #scene: ReachedScene;
  readonly #host: InstructionHost;
  readonly #held = new HeldThreads<HeldInstruction>((question, why) => this.#host.withdraw(question, why));

  constructor(sites: Sites, scene: ReachedScene, host: InstructionHost) {
    this.#sites = sites;
    this.#scene = scene;
    this.#host = host;
  }

  reached(site: PatternSite, hit: SiteHit): number {
    this.#scene.stop.generation++;
    const event = new ReachedInstruction(this.#scene, site, hit.address);
    const decision = this.#host.decide(event, site.subscribers);
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

  #hold(hit: SiteHit, held: Omit<HeldInstruction, "taken">, milliseconds: number): number {
    this.#held.set(hit.tid, { ...held, taken: this.#sites.take(hit) });
    return Math.max(1, milliseconds);
  }

  #carryOut(hit: SiteHit, event: ReachedInstruction, decision: Decision): void {
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

  /** The hold has ended. */
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

  /** An approver has answered these questions. Returns the threads that are now decided. */
  answered(questions: ReadonlySet<number>, settle: (decision: Decision) => Decision): number[] {
    return this.#held.answered(questions, settle);
  }

  exited(tid: number): void {
    this.#held.gone(tid);
  }
}
