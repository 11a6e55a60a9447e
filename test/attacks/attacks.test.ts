import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allAttacks, GOALS, type Goal } from "./attacks.js";
import {
  Campaign,
  type Combination,
  combinations,
  isRoot,
  type Result,
  USERS,
  type User,
} from "./campaign.js";
import { shippedSystems } from "./shipped.js";
import { hermes } from "./systems.js";

/**
 * Every attack as root, every other one as an ordinary user too, each of them on one of the doors in turn; and on the policies
 * that come with HERMES in turn, with every door and fence. `npm run attacks` makes all combinations, with more attempts,
 * and on other tools for comparison.
 */

const ATTEMPTS = 400;
const AT_ONCE = 3;
/** Another turn makes other combinations. */
const TURN = Number(process.env.HERMES_ATTACKS_TURN ?? 0);
const attacks = allAttacks();
const worked = new Set<string>();
let campaign: Campaign;

beforeAll(() => {
  campaign = new Campaign(ATTEMPTS);
});
afterAll(() => campaign.remove());

/** With the arena's own rules and no fence: the doors alone must hold. */
function onDoors(user: User, goal: Goal): Combination[] {
  return [...attacks.entries()]
    .filter(([turn, { needs }]) => user === "root" || !isRoot || needs.includes("ordinary") || turn % 2 === 0)
    .filter(([, attack]) => attack.goal === goal)
    .flatMap(([turn, attack]) => {
      const door = (user === "root" ? turn : turn >> 1) % 2 === 0 ? "auto" : "trace";
      return combinations([attack], [hermes(door, "none")], [user]);
    });
}

/** Of all combinations with what comes with HERMES, one for every fourth attack. */
function onShipped(goal: Goal): Combination[] {
  const systems = shippedSystems(["auto", "trace"], ["none", "standard", "strict"]);
  return [...attacks.entries()]
    .filter(([turn, attack]) => attack.goal === goal && (turn + TURN) % 4 === 0)
    .flatMap(([turn, attack]) => {
      const all = combinations([attack], systems, USERS);
      return all.length > 0 ? [all[((turn >> 1) * 31 + TURN * 17) % all.length]!] : [];
    });
}

/** Those that got through, or never began. */
async function escapes(all: readonly Combination[]): Promise<string[]> {
  const note = ({ attack, end }: Result) => {
    if (end !== "impossible" && !attack.needs.includes("mediator")) worked.add(attack.name);
  };
  const results = await campaign.run(all, AT_ONCE, note);
  return results
    .filter(({ end }) => end === "escaped" || end === "void")
    .map(({ attack, system, user, end, what }) => `${attack.name}, ${system.name}, ${user}: ${end}: ${what}`);
}

describe("the attacks", () => {
  it("are many, and each says what it tries", () => {
    expect(attacks.length).toBeGreaterThan(280);
    for (const goal of Object.keys(GOALS)) expect(attacks.some((a) => a.goal === goal)).toBe(true);
  });

  for (const [goal, claim] of Object.entries(GOALS) as [Goal, string][]) {
    for (const user of USERS)
      it(`${claim}: as ${user === "root" ? "root" : "an ordinary user"}`, {
        timeout: 900_000,
      }, async () => {
        expect(await escapes(onDoors(user, goal))).toEqual([]);
      });

    it(`${claim}: with the policies that come with HERMES`, { timeout: 900_000 }, async () => {
      expect(await escapes(onShipped(goal))).toEqual([]);
    });
  }

  it("work bare, most of them: what cannot be done anyway shows nothing", () => {
    expect(worked.size).toBeGreaterThan(isRoot ? 180 : 120);
  });
});
