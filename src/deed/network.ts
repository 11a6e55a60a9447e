import { type Address, formatAddress, isInternet, type UnixAddress } from "../address.js";
import type { Kin } from "../event.js";
import { type Allowed, allowedBy } from "../guard/urls/allowed.js";
import { blockedAddress } from "../guard/urls/ranges.js";
import { type AddressCaller, unixPath } from "../policy/match/address.js";
import { ANYWHERE } from "../policy/match/subject.js";
import { deny, type Verdict } from "../verdict.js";
import type { DeedOptions } from "./options.js";

/** What only the machine knows. */
export interface NetworkHost {
  /** Servers that names are looked up with. */
  readonly resolvers: readonly string[];
  /** Every address of a name; none when it cannot be resolved. */
  lookUp(name: string): Promise<readonly string[]>;
}

const DNS = 53;
const NO_NETWORK = "This run has no network.";

/** Where a run may connect to: decided on the address that is really used, whatever name led there. */
export class NetworkJudge {
  readonly #options: DeedOptions;
  readonly #host: NetworkHost;
  readonly #allowed: Allowed;
  readonly #sockets: ReadonlySet<string>;

  private constructor(options: DeedOptions, host: NetworkHost, allowed: Allowed) {
    this.#options = options;
    this.#host = host;
    this.#allowed = allowed;
    this.#sockets = new Set(options.connect ?? []);
  }

  /** Names that the configuration allows are looked up now: a connection has only an address. */
  static async of(options: DeedOptions, host: NetworkHost): Promise<NetworkJudge> {
    const written = options.config?.config.urls.allow ?? [];
    const found = await Promise.all(written.map((entry) => addressesOf(entry, host)));
    return new NetworkJudge(options, host, allowedBy({ allow: [...written, ...found.flat()] }));
  }

  judge(
    address: Address | typeof ANYWHERE | undefined,
    { kin, process }: AddressCaller,
  ): Verdict | undefined {
    if (address === ANYWHERE) return refusal("other-network", "Its packets would go where no address says.");
    if (!address || address.family === "netlink") return undefined; // a socket that is connected already; the kernel
    if (address.family === "unspecified") return undefined; // undoes a connection
    if (address.family === "unix") return this.#judgeUnix(address, kin, () => process.cwd);
    if (!isInternet(address)) return refusal("other-network", `${address.family} is not for an agent.`);
    if (this.#options.network === "none") return refusal("no-network", NO_NETWORK);
    const { host, port } = address;
    if (port === DNS && this.#host.resolvers.includes(host)) return undefined;
    const blocked = blockedAddress(host);
    if (!blocked || this.#allowed(host, String(port))) return undefined;
    if (blocked.rule === "loopback" && kin.listensAt(address)) return undefined;
    return refusal(blocked.rule, `${formatAddress(address)}: ${blocked.reason}`);
  }

  /** Rules judge sockets of this machine (policies/sockets.yaml); without a network name services are closed too. */
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
