import { type Address, formatAddress, isInternet, type UnixAddress } from "../../nouns/address.js";
import type { Kin } from "../../nouns/event.js";
import { deny, type Verdict } from "../../nouns/verdict.js";
import { type AddressCaller, unixPath } from "../../policy/match/address.js";
import { ANYWHERE } from "../../policy/match/subject.js";
import { type Allowed, allowedBy } from "../guard/urls/allowed.js";
import { blockedAddress } from "../guard/urls/ranges.js";
import type { RuntimeCheckOptions } from "./options.js";

/** What only the machine knows: its name servers, and the addresses of names. */
export interface NetworkHost {
  /** Addresses of the name servers. */
  readonly resolvers: readonly string[];
  /** Every address of a name; empty when it cannot be resolved. */
  lookUp(name: string): Promise<readonly string[]>;
}

const DNS = 53;
const NO_NETWORK = "This run has no network.";

/** Decides where a run may connect, by the address that the call really uses, not by the name that led to it. */
export class NetworkJudge {
  readonly #options: RuntimeCheckOptions;
  readonly #host: NetworkHost;
  readonly #allowed: Allowed;
  readonly #sockets: ReadonlySet<string>;

  private constructor(options: RuntimeCheckOptions, host: NetworkHost, allowed: Allowed) {
    this.#options = options;
    this.#host = host;
    this.#allowed = allowed;
    this.#sockets = new Set(options.connect ?? []);
  }

  /** Resolves the names that the configuration allows now: a connection carries only an address. */
  static async of(options: RuntimeCheckOptions, host: NetworkHost): Promise<NetworkJudge> {
    const written = options.config?.config.urls.allow ?? [];
    const found = await Promise.all(written.map((entry) => addressesOf(entry, host)));
    return new NetworkJudge(options, host, allowedBy({ allow: [...written, ...found.flat()] }));
  }

  judge(
    address: Address | typeof ANYWHERE | undefined,
    { kin, process }: AddressCaller,
  ): Verdict | undefined {
    if (address === ANYWHERE)
      return refusal(
        "other-network",
        "This sends packets without naming an address, so they cannot be judged.",
      );
    if (!address || address.family === "netlink") return undefined; // the socket is already connected, or talks to the kernel
    if (address.family === "unspecified") return undefined; // dissolves a connection
    if (address.family === "unix") return this.#judgeUnix(address, kin, () => process.cwd);
    if (!isInternet(address))
      return refusal("other-network", `An agent may not use ${address.family} sockets.`);
    if (this.#options.network === "none") return refusal("no-network", NO_NETWORK);
    const { host, port } = address;
    if (port === DNS && this.#host.resolvers.includes(host)) return undefined;
    const blocked = blockedAddress(host);
    if (!blocked || this.#allowed(host, String(port))) return undefined;
    if (blocked.rule === "loopback" && kin.listensAt(address)) return undefined;
    return refusal(blocked.rule, `${formatAddress(address)}: ${blocked.reason}`);
  }

  /** Rules judge Unix sockets (policies/sockets.yaml). A run without network may not reach name services either. */
  #judgeUnix(address: UnixAddress, kin: Kin, cwd: () => string): Verdict | undefined {
    if (this.#options.network !== "none" || address.path === "") return undefined;
    const path = address.abstract ? address.path : (unixPath(address.path, cwd) ?? address.path);
    if (!address.abstract && this.#sockets.has(path)) return undefined;
    return kin.listensAt(address) ? undefined : refusal("no-network", NO_NETWORK);
  }
}

function refusal(rule: string, reason: string): Verdict {
  return { ...deny(reason), rule };
}

async function addressesOf(entry: string, host: NetworkHost): Promise<string[]> {
  const [, name, port = ""] = /^([a-z][a-z0-9.-]*[a-z][a-z0-9.-]*)(:\d+)?$/i.exec(entry) ?? [];
  if (name === undefined) return [];
  return (await host.lookUp(name)).map((address) =>
    address.includes(":") ? `[${address}]${port}` : `${address}${port}`,
  );
}
