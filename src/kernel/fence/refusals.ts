import { callNumber, errnoValue, flagsValue } from "../../abi/named.js";
import { atLeast, type FenceLevel } from "../../nouns/protection.js";
import type { ConstantRule, ConstantTest } from "../../policy/policy.js";

const IOCTL = callNumber("ioctl");
const SOCKET = callNumber("socket");
const EPERM = errnoValue("EPERM");
const EAFNOSUPPORT = errnoValue("EAFNOSUPPORT");
const TIOCSTI = BigInt(flagsValue("ioctl", "TIOCSTI"));
const TIOCLINUX = BigInt(flagsValue("ioctl", "TIOCLINUX"));
/** The families that namespaces isolate. All others reach the hypervisor, devices or kernel internals. */
const FAMILIES = ["AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"].map((family) =>
  BigInt(flagsValue("socket_family", family)),
);

const argument = (arg: number, op: "eq" | "ne", value: bigint): ConstantTest => ({
  arg,
  width: 32,
  op,
  value,
});

/** Calls that the filter refuses before any policy. */
const REFUSALS: readonly (ConstantRule & { readonly from: FenceLevel })[] = [
  {
    // TIOCSTI types on the terminal as if the user did: the user's shell would run the input after the
    // program ends.
    from: "standard",
    id: "fence-typing",
    nr: IOCTL,
    tests: [argument(1, "eq", TIOCSTI)],
    action: "deny",
    errno: EPERM,
  },
  {
    // TIOCLINUX pastes on a virtual console, with the same effect.
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
