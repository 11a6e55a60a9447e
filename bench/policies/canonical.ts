import { definePolicy, deny } from "hermes-runtime";

/** Looks at where the path leads, with links and `..` resolved. */
export default definePolicy({
  name: "bench-canonical",
  actions: ["deny"],
  on: {
    openat(event) {
      if (event.path?.startsWith("/etc/secret")) return deny();
    },
  },
});
