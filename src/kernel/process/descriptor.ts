import { errnoValue } from "../../abi/named.js";
import { type Address, decodeAddress } from "../../nouns/address.js";
import type { Descriptor } from "../../nouns/event.js";
import { decodeText } from "../../nouns/text.js";
import { native } from "../binding/native.js";
import { isMemory } from "../binding/pin-facts.js";

const EBADF = errnoValue("EBADF");
/** Of /proc, for a number that is not open. */
const ENOENT = errnoValue("ENOENT");
const ENXIO = errnoValue("ENXIO");

/**
 * Asks the kernel about a tracee's descriptor. Caches nothing, so dup, close and exec cannot make it wrong.
 */
export function describeDescriptor(tid: number, number: number): Descriptor {
  const name = native().fdName(tid, number);
  return new LiveDescriptor(tid, number, typeof name === "number" ? name : decodeText(name));
}

/** The same for a descriptor held in the pin, so that the check and the call use the same object. */
export function holdDescriptor(
  { broker, tid }: { readonly broker: number; readonly tid: number },
  number: number,
  pin: Uint8Array,
): Descriptor {
  const name = native().pinFd(broker, tid, number, pin);
  if (typeof name === "number") return new LiveDescriptor(tid, number, name);
  return new LiveDescriptor(tid, number, decodeText(name), pin);
}

class LiveDescriptor implements Descriptor {
  readonly number: number;
  readonly target: string | undefined;
  readonly isMissing: boolean;
  readonly #tid: number;
  /** The pin that holds it. */
  readonly #held: Uint8Array | undefined;
  #process: number | undefined;
  #names: { local: Address | undefined; peer: Address | undefined } | undefined;

  /** `found` is what it refers to, or -errno. */
  constructor(tid: number, number: number, found: string | number, held?: Uint8Array) {
    this.#tid = tid;
    this.#held = held;
    this.number = number;
    this.target = typeof found === "string" ? found : undefined;
    this.isMissing = found === -EBADF || found === -ENOENT;
  }

  get kind(): Descriptor["kind"] {
    if (this.target === undefined) return "closed";
    if (this.target.startsWith("/")) return "file";
    if (this.target.startsWith("pipe:")) return "pipe";
    return this.target.startsWith("socket:") ? "socket" : "anonymous";
  }

  get isMemory(): boolean {
    return this.target !== undefined && this.#held !== undefined && isMemory(this.target, this.#held);
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
