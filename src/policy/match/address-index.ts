import { type Address, isInternet } from "../../nouns/address.js";
import { type AddressList, type Cidr, inPorts, type Ports, parseIp } from "./address.js";

interface Entry<T> {
  readonly ports: Ports;
  readonly value: T;
}

/**
 * Networks by prefix length, longest first: a lookup costs one step per length in use, regardless of the
 * number of networks.
 */
export class AddressIndex<T> {
  readonly #lengths = {
    4: new Map<number, Map<bigint, Entry<T>[]>>(),
    6: new Map<number, Map<bigint, Entry<T>[]>>(),
  };
  /** Lists with entries other than networks: Unix sockets, families. */
  readonly #others: T[] = [];
  /** Lists with entries of any family. */
  readonly #everywhere: T[] = [];
  readonly #all: T[] = [];

  /** Matches for an unknown address. */
  get all(): readonly T[] {
    return this.#all;
  }

  add(list: AddressList, value: T): void {
    this.#all.push(value);
    for (const pattern of list.included)
      if (pattern.kind === "network") this.#addNetwork(pattern.network, pattern.ports, value);
    const kinds = new Set(list.included.map(({ kind }) => kind));
    if (kinds.has("own")) this.#everywhere.push(value);
    else if (kinds.has("unix") || kinds.has("family")) this.#others.push(value);
  }

  #addNetwork({ version, prefix, value: key }: Cidr, ports: Ports, value: T): void {
    const lengths = this.#lengths[version];
    const networks = lengths.get(prefix) ?? new Map<bigint, Entry<T>[]>();
    lengths.set(prefix, networks);
    const entries = networks.get(key) ?? [];
    networks.set(key, entries);
    entries.push({ ports, value });
  }

  /** Values whose list may match. Exceptions and entries other than networks remain to be compared. */
  find(address: Address): T[] {
    if (address.family === "packet") return [...this.#all];
    const ip = isInternet(address) && parseIp(address.host);
    if (!isInternet(address) || !ip) return [...this.#everywhere, ...this.#others];
    const found: T[] = [...this.#everywhere];
    const bits = ip.version === 4 ? 32 : 128;
    for (const [prefix, networks] of this.#lengths[ip.version]) {
      const rest = BigInt(bits - prefix);
      for (const { ports, value } of networks.get((ip.value >> rest) << rest) ?? [])
        if (inPorts(ports, address.port)) found.push(value);
    }
    return found;
  }
}
