import { definePolicy, deny } from "hermes-runtime";

const MILLISECONDS = 2;

/** Deliberately slow: the benchmark must notice it. */
export default definePolicy({
  name: "bench-slow",
  actions: ["deny"],
  on: {
    openat(event) {
      const from = performance.now();
      while (performance.now() - from < MILLISECONDS);
      if (event.requested?.startsWith("/etc/secret")) return deny();
    },
  },
});
