import { systemResolve } from "../guard/urls/reach.js";
import { readText } from "../process/proc.js";
import type { NetworkHost } from "./network.js";

/** What this machine says. */
export const machine: NetworkHost = {
  get resolvers() {
    return [...readText("/etc/resolv.conf").matchAll(/^\s*nameserver\s+([^\s%]+)/gm)].map(
      ([, host]) => host!,
    );
  },
  lookUp: (name) => systemResolve(name).catch(() => []),
};
