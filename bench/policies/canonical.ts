import { definePolicy, deny } from "hermes-runtime";

/** Reads the canonical path, with links and `..` resolved. */
export default definePolicy({
  name: "bench-canonical",
  actions: ["deny"],
  on: {
    openat(event) {
      if (event.path?.startsWith("/etc/secret")) return deny();
    },
  },
});
