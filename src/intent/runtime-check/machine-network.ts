import { readText } from "../../kernel/process/proc.js";
import { systemResolve } from "../guard/urls/reach-url.js";
import type { NetworkHost } from "./network-judge.js";

/** The network facts of this machine. */
export const machineNetwork: NetworkHost = {
  get resolvers() {
    return [...readText("/etc/resolv.conf").matchAll(/^\s*nameserver\s+([^\s%]+)/gm)].map(
      ([, host]) => host!,
    );
  },
  lookUp: (name) => systemResolve(name).catch(() => []),
};
