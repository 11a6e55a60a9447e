import { parseAddress } from "../../nouns/address.js";
import type { CallRecord } from "../../record/trace/records.js";
import { HostNames } from "./host-names.js";
import { lineage, processName, type TracedProcess } from "./processes.js";

interface PeerFacts {
  /** `10.0.0.1:443`; without the port for a client of the program. */
  readonly address: string;
  readonly direction: "out" | "in";
  /** For clients: where we listen. */
  readonly local?: string;
  /** Connections, or datagrams that chose the peer. */
  contacts: number;
  failed: number;
  bytesOut: number;
  bytesIn: number;
  first: number;
  last: number;
  readonly names: Set<string>;
  readonly by: Set<string>;
  /** Command lines of processes that did. */
  readonly commands: Set<string>;
  /** Time between contacts: how many, their mean, and the sum of squared differences from it (Welford). */
  readonly gaps: { count: number; mean: number; squares: number };
}

interface Socket {
  peer?: PeerFacts | undefined;
  local?: string;
}

const MAX_PEERS = 20_000;
const MAX_SOCKETS = 100_000;
const MAX_USERS = 8;
const MAX_COMMANDS = 3;
const MAX_COMMAND = 300;
const SENDS = new Set(["sendto", "sendmsg", "sendmmsg", "write", "writev", "sendfile", "splice"]);
const RECEIVES = new Set(["recvfrom", "recvmsg", "recvmmsg", "read", "readv"]);
/** A connect of a non-blocking socket returns this and continues in the background. */
const UNDER_WAY = new Set(["EINPROGRESS", "EALREADY", "EISCONN", "EINTR"]);

/** Who was talked to, through which sockets, how much. Memory is bounded. */
export class NetworkStatistics {
  readonly peers = new Map<string, PeerFacts>();
  readonly listening = new Map<string, { readonly address: string; readonly by: Set<string> }>();
  /** Addresses that sockets of this session got, when they asked for any port. */
  readonly ownPorts = new Set<string>();
  readonly #names = new HostNames();
  readonly #sockets = new Map<string, Socket>();
  /** Connections that were accepted, until their socket is seen: the call's record names the listening one. */
  readonly #accepted = new Map<string, PeerFacts>();

  take(record: CallRecord, process: TracedProcess): void {
    const { name, target, args } = record;
    const address = typeof args.addr === "string" ? args.addr : record.addresses?.[0];
    switch (name) {
      case "connect":
        if (address !== undefined) this.#contact(record, process, address);
        return;
      case "bind":
      case "getsockname":
        this.#bound(record, address);
        return;
      case "listen":
        this.#listens(record, process);
        return;
      case "accept":
      case "accept4":
        this.#accepts(record, process, address);
        return;
      default:
        if (target?.startsWith("socket:") && (SENDS.has(name) || RECEIVES.has(name)))
          this.#data(record, process, address);
    }
  }

  /** Names that name servers gave for an address. */
  namesOf(address: string): string[] {
    return [...this.#names.of(address)];
  }

  #contact(record: CallRecord, process: TracedProcess, address: string): PeerFacts | undefined {
    const peer = this.#peer(address, "out", record.time);
    if (!peer) return undefined;
    if (peer.contacts > 0) gap(peer.gaps, record.time - peer.last);
    peer.contacts++;
    peer.last = record.time;
    if (record.errno !== undefined && !UNDER_WAY.has(record.errno)) peer.failed++;
    this.#usedBy(peer, process);
    for (const known of this.#names.of(address)) peer.names.add(known);
    if (record.target !== undefined) this.#socket(record.target).peer = peer;
    return peer;
  }

  #bound({ name, target, errno }: CallRecord, address: string | undefined): void {
    if (target === undefined || address === undefined || errno !== undefined) return;
    const socket = this.#socket(target);
    if (name === "getsockname" && socket.local?.endsWith(":0")) this.ownPorts.add(address);
    if (name === "bind" || socket.local !== undefined) socket.local = address;
  }

  #listens({ target }: CallRecord, process: TracedProcess): void {
    const address = target === undefined ? undefined : this.#socket(target).local;
    if (address === undefined) return;
    const known = this.listening.get(address) ?? { address, by: new Set() };
    this.listening.set(address, known);
    if (known.by.size < MAX_USERS) known.by.add(processName(process));
  }

  #accepts(record: CallRecord, process: TracedProcess, address: string | undefined): void {
    const { result, target, time, pid } = record;
    if (result === undefined || result < 0) return;
    const local = target === undefined ? undefined : this.#socket(target).local;
    const host = address === undefined ? "unix" : hostOf(address);
    const peer = this.#peer(host, "in", time, local);
    if (!peer) return;
    peer.contacts++;
    peer.last = time;
    this.#usedBy(peer, process);
    this.#accepted.set(`${pid} ${result}`, peer);
    if (this.#accepted.size > MAX_SOCKETS) this.#accepted.delete(this.#accepted.keys().next().value!);
  }

  #data(record: CallRecord, process: TracedProcess, address: string | undefined): void {
    const { name, target, result } = record;
    const socket = this.#socket(target!);
    const sends = SENDS.has(name);
    let { peer } = socket;
    if (sends && address !== undefined) peer = this.#contact(record, process, address);
    else if (!peer) peer = socket.peer = this.#acceptedAs(record, process);
    if (!peer) return;
    if (result !== undefined && result > 0) {
      if (sends) peer.bytesOut += result;
      else peer.bytesIn += result;
    }
    peer.last = Math.max(peer.last, record.time);
    for (const name of this.#names.learn(record, peer.address, sends)) peer.names.add(name);
  }

  /** A child may use what its parent accepted. */
  #acceptedAs({ args }: CallRecord, process: TracedProcess): PeerFacts | undefined {
    if (typeof args.fd !== "number") return undefined;
    for (const { pid } of lineage(process)) {
      const peer = this.#accepted.get(`${pid} ${args.fd}`);
      if (peer) return peer;
    }
    return undefined;
  }

  #socket(target: string): Socket {
    const known = this.#sockets.get(target);
    if (known) return known;
    if (this.#sockets.size >= MAX_SOCKETS) this.#sockets.delete(this.#sockets.keys().next().value!);
    const socket: Socket = {};
    this.#sockets.set(target, socket);
    return socket;
  }

  #peer(address: string, direction: "out" | "in", time: number, local?: string): PeerFacts | undefined {
    const key = `${direction} ${address} ${local ?? ""}`;
    const known = this.peers.get(key);
    if (known || this.peers.size >= MAX_PEERS) return known;
    const peer: PeerFacts = {
      address,
      direction,
      ...(local !== undefined && { local }),
      contacts: 0,
      failed: 0,
      bytesOut: 0,
      bytesIn: 0,
      first: time,
      last: time,
      names: new Set(),
      by: new Set(),
      commands: new Set(),
      gaps: { count: 0, mean: 0, squares: 0 },
    };
    this.peers.set(key, peer);
    return peer;
  }

  #usedBy(peer: PeerFacts, process: TracedProcess): void {
    if (peer.by.size < MAX_USERS) peer.by.add(processName(process));
    if (peer.commands.size < MAX_COMMANDS) peer.commands.add(process.argv.join(" ").slice(0, MAX_COMMAND));
  }
}

function gap(gaps: PeerFacts["gaps"], seconds: number): void {
  gaps.count++;
  const difference = seconds - gaps.mean;
  gaps.mean += difference / gaps.count;
  gaps.squares += difference * (seconds - gaps.mean);
}

/** The host of an address as a trace writes it. */
function hostOf(address: string): string {
  const parsed = parseAddress(address);
  return parsed && "host" in parsed ? parsed.host : address;
}

/** Internet addresses, and not the sockets of this machine's own services. */
export function isInternetAddress(address: string): boolean {
  const parsed = parseAddress(address);
  return parsed?.family === "ipv4" || parsed?.family === "ipv6";
}
