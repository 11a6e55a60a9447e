import { type Address, decodeAddress } from "../address.js";
import type { Descriptor } from "../event.js";
import { native } from "../kernel/native.js";
import { decodeText } from "../text.js";

const ENXIO = 6;

/** Asks the kernel what a tracee's descriptor is. Nothing is cached: dup, close and exec cannot make it wrong. */
export function describeDescriptor(tid: number, number: number): Descriptor {
  const name = native().fdName(tid, number);
  return new LiveDescriptor(tid, number, typeof name === "number" ? undefined : decodeText(name));
}

/** The same of one that is held in the pin: what is decided on is what the call is made on. */
export function holdDescriptor(
  { broker, tid }: { readonly broker: number; readonly tid: number },
  number: number,
  pin: Uint8Array,
): Descriptor {
  const name = native().pinFd(broker, tid, number, pin);
  if (typeof name === "number") return new LiveDescriptor(tid, number, undefined);
  return new LiveDescriptor(tid, number, decodeText(name), pin);
}

class LiveDescriptor implements Descriptor {
  readonly number: number;
  readonly target: string | undefined;
  readonly #tid: number;
  /** The pin that holds it. */
  readonly #held: Uint8Array | undefined;
  #process: number | undefined;
  #names: { local: Address | undefined; peer: Address | undefined } | undefined;

  constructor(tid: number, number: number, target: string | undefined, held?: Uint8Array) {
    this.#tid = tid;
    this.#held = held;
    this.number = number;
    this.target = target;
  }

  get kind(): Descriptor["kind"] {
    if (this.target === undefined) return "closed";
    if (this.target.startsWith("/")) return "file";
    if (this.target.startsWith("pipe:")) return "pipe";
    return this.target.startsWith("socket:") ? "socket" : "anonymous";
  }

  get process(): number | undefined {
    this.#process ??=
      this.#held === undefined
        ? native().processBehind(this.#tid, this.number)
        : native().processOfPin(this.#held);
    if (this.#process === -ENXIO) return -1;
    return this.#process < 0 ? undefined : this.#process;
  }

  get local(): Address | undefined {
    return this.#sockets().local;
  }

  get peer(): Address | undefined {
    return this.#sockets().peer;
  }

  #sockets() {
    this.#names ??=
      this.kind === "socket" ? socketNames(this.#tid, this.number) : { local: undefined, peer: undefined };
    return this.#names;
  }
}

function socketNames(tid: number, fd: number): { local: Address | undefined; peer: Address | undefined } {
  const both = native().socketNames(tid, fd);
  if (typeof both === "number") return { local: undefined, peer: undefined };
  const address = (at: number) => decodeAddress(both.subarray(at + 4, at + 4 + both.readUInt32LE(at)));
  return { local: address(0), peer: address(132) };
}
