import type { ConstantRule, ConstantTest } from "../policy/policy.js";
import { atLeast, type FenceLevel } from "../protection.js";

const IOCTL = 16;
const SOCKET = 41;
const EPERM = 1;
const EAFNOSUPPORT = 97;
const TIOCSTI = 0x5412n;
const TIOCLINUX = 0x541cn;
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: what namespaces keep apart. The rest reaches the hypervisor, devices or the kernel's own. */
const FAMILIES = [1n, 2n, 10n, 16n];

const argument = (arg: number, op: "eq" | "ne", value: bigint): ConstantTest => ({
  arg,
  width: 32,
  op,
  value,
});

/** Calls that the filter refuses by their numbers alone, whatever policies say. */
const REFUSALS: readonly (ConstantRule & { readonly from: FenceLevel })[] = [
  {
    // Types on the terminal in the user's name: what the program leaves there the user's shell would run.
    from: "standard",
    id: "fence-typing",
    nr: IOCTL,
    tests: [argument(1, "eq", TIOCSTI)],
    action: "deny",
    errno: EPERM,
  },
  {
    // Pastes on a virtual console, which is the same.
    from: "strict",
    id: "fence-pasting",
    nr: IOCTL,
    tests: [argument(1, "eq", TIOCLINUX)],
    action: "deny",
    errno: EPERM,
  },
  {
    from: "strict",
    id: "fence-families",
    nr: SOCKET,
    tests: FAMILIES.map((family) => argument(0, "ne", family)),
    action: "deny",
    errno: EAFNOSUPPORT,
  },
];

export function refusalsOf(level: FenceLevel): readonly ConstantRule[] {
  return REFUSALS.filter(({ from }) => atLeast(level, from));
}
