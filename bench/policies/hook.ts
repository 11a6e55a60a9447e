import { definePolicy, deny } from "hermes-runtime";

/** Reads the argument of each call of a small function. */
export default definePolicy({
  name: "bench-hook",
  actions: ["deny"],
  on: {
    "libc!abs"(event) {
      if (event.argument(0) === 0xffff_ffffn) return deny();
    },
  },
});
