import { definePolicy, deny } from "hermes-runtime";

/** Looks at the path as the program wrote it. */
export default definePolicy({
  name: "bench-requested",
  actions: ["deny"],
  on: {
    openat(event) {
      if (event.requested?.startsWith("/etc/secret")) return deny();
    },
  },
});
