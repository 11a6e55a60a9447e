import { definePolicy, deny } from "hermes-runtime";

const MILLISECONDS = 2;

/** Takes its time: what measures speed must notice. */
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
