import { definePolicy, deny } from "hermes-runtime";

/** Reads the path as the program wrote it. */
export default definePolicy({
  name: "bench-requested",
  actions: ["deny"],
  on: {
    openat(event) {
      if (event.requested?.startsWith("/etc/secret")) return deny();
    },
  },
});
