// HERMES in a program of yours: run a command, watch it, refuse one thing, see what it did.
import { definePolicy, deny, run } from "hermes-runtime";

const opened = new Set();
const policy = definePolicy({
  name: "example",
  actions: ["deny"],
  on: {
    openat(e) {
      if (e.path) opened.add(e.path);
      if (e.path === "/etc/hostname") return deny("Not for you.");
    },
  },
});

const result = await run({ command: ["cat", "/etc/hostname", "/etc/debian_version"], policy });
console.log(`exit ${result.exitCode}, ${opened.size} files opened, ${result.summary.byAction.deny} denied`);
