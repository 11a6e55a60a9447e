import { writeSync } from "node:fs";
import { definePolicy } from "hermes-runtime";

const WARM_UP = 2000;
const STACKS = 5000;
const FRAMES = 20;
const STDERR = 2;

/** Unwinds the stack of python3's first write repeatedly, and prints the time of one. */
export default definePolicy({
  name: "bench-unwind",
  inside: true,
  actions: ["allow"],
  on: {
    write(event) {
      if (event.argument(0) !== 1n) return;
      const first = performance.now();
      const { length } = event.stack(FRAMES);
      const cold = performance.now() - first;
      for (let i = 0; i < WARM_UP; i++) event.stack(FRAMES);
      const from = performance.now();
      for (let i = 0; i < STACKS; i++) event.stack(FRAMES);
      const micros = ((performance.now() - from) * 1000) / STACKS;
      writeSync(STDERR, `${JSON.stringify({ frames: length, micros, coldMicros: cold * 1000 })}\n`);
    },
  },
});
