import { describe, expect, it } from "vitest";
import { callsNamed } from "../../src/policy/define.js";
import { EFFECTS } from "../../src/policy/effects.js";
import { callsConcerned, parseTarget } from "../../src/policy/yaml/rule-target.js";
import { LIVE, LIVE_ALL } from "../../src/session/run.js";

describe("a host of a fleet", () => {
  const live = new Set(LIVE.flatMap((key) => callsNamed("--live", key)).map(({ nr }) => nr));
  const TOO_FREQUENT = ["read_data", "write_data", "sync"];

  it.each(Object.keys(EFFECTS).filter((effect) => !TOO_FREQUENT.includes(effect)))(
    "stops every call that a later rule on %s is about",
    (effect) => {
      const missing = callsConcerned(parseTarget([effect])).filter(({ nr }) => !live.has(nr));
      expect(missing.map(({ name }) => name)).toEqual([]);
    },
  );
});

describe("--live without a list", () => {
  const live = new Set(LIVE_ALL.flatMap((key) => callsNamed("--live", key)).map(({ nr }) => nr));

  it.each(Object.keys(EFFECTS))("stops every call that a later rule on %s is about", (effect) => {
    const missing = callsConcerned(parseTarget([effect])).filter(({ nr }) => !live.has(nr));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });
});
