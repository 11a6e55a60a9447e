import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NOBODY, OrdinaryUser } from "../support/ordinary-user.js";
import { root } from "../support/programs.js";
import { type Attack, allAttacks, commandOf, GOALS, type Goal } from "./attacks.js";
import { type Circumstances, fight } from "./fight.js";
import { isKnown } from "./known.js";
import { bare, hermes } from "./systems.js";

/**
 * Every attack as root, every other one as an ordinary user too, each of them on one of the doors in turn: `npm run
 * attacks` makes them all on both, with every fence, more attempts, and on other tools for comparison.
 */

const ATTEMPTS = 400;
const AT_ONCE = 3;
const isRoot = process.getuid?.() === 0;
const attacks = allAttacks();
const possible = new Set<string>();
let ordinary: OrdinaryUser;

beforeAll(() => {
  ordinary = new OrdinaryUser();
});
afterAll(() => ordinary.remove());

function circumstances(user: "root" | "ordinary"): Circumstances {
  const id = user === "root" ? 0 : isRoot ? NOBODY : process.getuid!();
  const build = user === "root" ? root : ordinary.folder;
  return { fighter: { uid: id, gid: id }, build, attempts: ATTEMPTS };
}

function isMade({ needs }: Attack, turn: number, user: "root" | "ordinary"): boolean {
  return user === "root" || !isRoot || needs.includes("ordinary") || turn % 2 === 0;
}

/** What it reached, or nothing. An attack that does not even work bare shows nothing, and does not count. */
async function tried(attack: Attack, turn: number, user: "root" | "ordinary"): Promise<string | undefined> {
  const c = circumstances(user);
  if (attack.needs.includes(user === "root" ? "ordinary" : "root")) return undefined;
  if ((await fight(attack, bare, c)).broke === undefined) return undefined;
  possible.add(attack.name);
  const door = (user === "root" ? turn : turn >> 1) % 2 === 0 ? "auto" : "trace";
  const { broke, stderr } = await fight(attack, hermes(door, "none"), c);
  return broke && `${attack.name} through the ${door} door: ${broke} (${attack.text}) ${stderr}`.trim();
}

describe("the attacks", () => {
  it("are many, and each says what it tries", () => {
    expect(attacks.length).toBeGreaterThan(240);
    for (const goal of Object.keys(GOALS)) expect(attacks.some((a) => a.goal === goal)).toBe(true);
  });

  for (const user of isRoot ? (["root", "ordinary"] as const) : (["ordinary"] as const))
    for (const [goal, claim] of Object.entries(GOALS) as [Goal, string][])
      it(`${claim}: as ${user === "root" ? "root" : "an ordinary user"}`, {
        timeout: 900_000,
        retry: 0,
      }, async () => {
        const waiting = [...attacks.entries()].filter(
          ([turn, a]) => a.goal === goal && !isKnown(a.name) && isMade(a, turn, user),
        );
        for (const [, attack] of waiting) commandOf(attack);
        const escapes: string[] = [];
        const work = async () => {
          for (let next = waiting.shift(); next; next = waiting.shift()) {
            const reached = await tried(next[1], next[0], user);
            if (reached) escapes.push(reached);
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, work));
        expect(escapes).toEqual([]);
      });

  it("work bare, most of them: what cannot be done anyway shows nothing", () => {
    expect(possible.size).toBeGreaterThan(isRoot ? 150 : 100);
  });
});
