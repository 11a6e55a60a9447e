import { cpSync } from "node:fs";
import { join } from "node:path";
import { NOBODY, OrdinaryUser } from "../support/ordinary-user.js";
import { root } from "../support/root.js";
import { type Attack, commandOf } from "./attacks.js";
import { type Circumstances, fight } from "./fight.js";
import { whyKnown } from "./known.js";
import { bareIn, type System } from "./systems.js";

export type User = "root" | "ordinary";
export const isRoot = process.getuid?.() === 0;
export const USERS: readonly User[] = isRoot ? ["root", "ordinary"] : ["ordinary"];

export interface Combination {
  readonly attack: Attack;
  readonly system: System;
  readonly user: User;
}

/**
 * held, or escaped; known is an escape that known.ts names; impossible here: it does not work bare either; void: it never
 * began, so that nothing was held.
 */
export type End = "held" | "escaped" | "known" | "impossible" | "void";

export interface Result extends Combination {
  readonly end: End;
  /** What it reached, why that is known, or what was said instead of a beginning. */
  readonly what: string;
}

/** Every attack on every system that promises to hold it, as every user. */
export function combinations(
  attacks: readonly Attack[],
  systems: readonly System[],
  users: readonly User[],
): Combination[] {
  return attacks.flatMap((attack) =>
    users
      .filter((user) => !attack.needs.includes(user === "root" ? "ordinary" : "root"))
      .flatMap((user) =>
        systems.filter((system) => system.promises(attack)).map((system) => ({ attack, system, user })),
      ),
  );
}

/** Attacks made one after the other, some at once, each in an arena of its own. */
export class Campaign {
  readonly #ordinary = new OrdinaryUser();
  readonly #bare = new Map<string, Promise<boolean>>();
  readonly #attempts: number;
  #stop: () => void = () => {};

  constructor(attempts: number) {
    this.#attempts = attempts;
    // The store that `hermes exec` writes its records to.
    for (const name of ["libsql", "@libsql", "@neon-rs", "detect-libc"])
      cpSync(join(root, "node_modules", name), join(this.#ordinary.folder, "node_modules", name), {
        recursive: true,
      });
  }

  async run(
    all: readonly Combination[],
    atOnce: number,
    report: (result: Result) => void = () => {},
  ): Promise<Result[]> {
    const waiting = [...all];
    this.#stop = () => waiting.splice(0);
    const results: Result[] = [];
    const work = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const { attack, system, user } = next;
        const result = await this.make(next).catch(
          (error): Result => ({ attack, system, user, end: "void", what: String(error) }),
        );
        results.push(result);
        report(result);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return results;
  }

  async make(combination: Combination): Promise<Result> {
    const { attack, system, user } = combination;
    commandOf(attack);
    if (!(await this.#isPossible(attack, system, user)))
      return { ...combination, end: "impossible", what: "it does not succeed bare" };
    const { broke, began, stderr } = await fight(attack, system, this.#circumstances(user, system));
    const why = broke === undefined ? undefined : whyKnown(attack, system);
    if (why) return { ...combination, end: "known", what: `${broke}: ${why}` };
    if (broke) return { ...combination, end: "escaped", what: `${broke} (${attack.text}) ${stderr}`.trim() };
    const isHeld = began || system.refused?.(stderr);
    return { ...combination, end: isHeld ? "held" : "void", what: began ? "" : stderr.trim() };
  }

  /** Those that are being made come to their end, and no others begin. */
  stop(): void {
    this.#stop();
  }

  remove(): void {
    this.#ordinary.remove();
  }

  /** Made bare once per user and layout. */
  #isPossible(attack: Attack, { layout }: System, user: User): Promise<boolean> {
    if (attack.needs.includes("mediator")) return Promise.resolve(true);
    const key = [attack.name, layout, user].join(" ");
    let made = this.#bare.get(key);
    if (!made) {
      const bare = bareIn(layout);
      made = fight(attack, bare, this.#circumstances(user, bare)).then(({ broke }) => broke !== undefined);
      this.#bare.set(key, made);
    }
    return made;
  }

  /** Races on shipped policies are tried less often: there are fifty times as many combinations. */
  #circumstances(user: User, { layout, isBare }: System): Circumstances {
    const id = user === "root" ? 0 : isRoot ? NOBODY : process.getuid!();
    return {
      fighter: { uid: id, gid: id },
      build: user === "root" ? root : this.#ordinary.folder,
      attempts: layout === "home" && !isBare ? Math.ceil(this.#attempts / 10) : this.#attempts,
    };
  }
}
