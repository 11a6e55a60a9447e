import { describe, expect, it } from "vitest";
import { FENCE_FIELD, FENCE_SIZE } from "../../src/kernel/binding/fence-plan.js";
import { PLAN_FIELD, PLAN_SIZE } from "../../src/kernel/binding/launch.js";
import * as layout from "../../src/kernel/binding/layout.js";
import { native } from "../../src/kernel/binding/native.js";

const c = native().layout();
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const fields = (prefix: string, table: Record<string, number>) =>
  Object.fromEntries(Object.entries(table).map(([name, offset]) => [`${prefix}.${snake(name)}`, offset]));

describe("the memory that C and TypeScript share", () => {
  it("has every field at the same place on both sides", () => {
    expect(c).toEqual({
      ...fields("event", layout.EVENT_FIELD),
      ...fields("answer", layout.ANSWER_FIELD),
      ...fields("write", layout.WRITE_FIELD),
      ...fields("plan", PLAN_FIELD),
      ...fields("plan_fence", FENCE_FIELD),
      ...fields("verdict_cache", layout.VERDICT_CACHE_FIELD),
      ...fields("verdict_class", layout.VERDICT_CACHE_CLASS_FIELD),
      verdict_cache: layout.VERDICT_CACHE_SIZE,
      verdict_class: layout.VERDICT_CACHE_CLASS_SIZE,
      slot: layout.SLOT_SIZE,
      write: layout.WRITE_SIZE,
      max_writes: layout.MAX_WRITES,
      answer: layout.ANSWER_OFFSET,
      pins: layout.PINS_OFFSET,
      pin: layout.PIN_SIZE,
      max_pins: layout.MAX_PINS,
      fetch: layout.FETCH_OFFSET,
      fetch_size: layout.FETCH_SIZE,
      reply: layout.REPLY_OFFSET,
      reply_size: layout.REPLY_SIZE,
      buffer: layout.BUFFER_SIZE,
      fetch_plan: layout.FETCH_PLAN_SIZE,
      plan: PLAN_SIZE,
      plan_limit: 24,
      plan_fence: FENCE_SIZE,
    });
  });
});
