import { AT_FDCWD } from "../../abi/named.js";
import { type Address, decodeAddress } from "../../nouns/address.js";
import { encodeText } from "../../nouns/text.js";
import { KIND } from "../binding/layout.js";
import { RESOLVE } from "../binding/native.js";
import type { Stop } from "../binding/stop.js";
import type { DecodedCall } from "./call.js";
import type { CallPaths } from "./call-paths.js";
import { MAX_ADDRESS } from "./memory.js";
import { Messages } from "./messages.js";

/** The socket addresses of a stopped call, and the messages that carry them. */
export class CallAddresses {
  readonly #call: DecodedCall;
  readonly #paths: CallPaths;
  /** The session's shared buffer, which has the pins. */
  readonly #shared: Stop;
  #all: readonly Address[] | undefined;
  #names: readonly (Uint8Array | undefined)[] | undefined;
  #messages: Messages | undefined;

  constructor(call: DecodedCall, paths: CallPaths, shared: Stop) {
    this.#call = call;
    this.#paths = paths;
    this.#shared = shared;
  }

  /** Every address that the call carries: sendmmsg may have many. */
  get all(): readonly Address[] {
    this.#all ??= this.#call.names.flatMap((bytes, i) => {
      const address = bytes && decodeAddress(bytes);
      return address ? [this.#reachable(address, i)] : [];
    });
    return this.#all;
  }

  /** The addresses as bytes, one for each message. */
  get names(): readonly (Uint8Array | undefined)[] {
    const { address } = this.#call.shape;
    this.#call.looked = true;
    if (address >= 0) this.#names ??= [this.bytes(address)];
    else this.#names ??= this.#ofMessages?.names() ?? [];
    return this.#names;
  }

  get controls(): readonly string[] {
    return this.#ofMessages?.controls ?? [];
  }

  /** The bytes of one address argument. */
  bytes(i: number): Uint8Array | undefined {
    const { stop } = this.#call;
    const argument = this.#call.call.args[i]!;
    if (stop.isNull(i)) return undefined;
    if (argument.direction !== undefined && argument.direction !== "in") {
      if (stop.kind !== KIND.return || stop.result < 0) return undefined;
      const length = this.#call.snapshot.exactly(stop.exact(argument.length!), 4)?.readUInt32LE();
      return length === undefined
        ? undefined
        : this.#call.snapshot.read(stop.exact(i), Math.min(length, MAX_ADDRESS));
    }
    if (stop.has(i)) return stop.slotError(i) ? undefined : Uint8Array.from(stop.slotBytes(i));
    return this.#call.snapshot.read(stop.exact(i), Math.min(stop.uint(argument.length!), MAX_ADDRESS));
  }

  get #ofMessages(): Messages | undefined {
    const { message } = this.#call.shape;
    if (message >= 0) this.#messages ??= new Messages(this.#call, message);
    return this.#messages;
  }

  /** A Unix socket with a path is identified by the file that the path reaches. */
  #reachable(address: Address, i: number): Address {
    const isFile = address.family === "unix" && address.path !== "" && !address.abstract;
    if (!isFile || i > 0 || this.#call.stop.kind === KIND.return) return address;
    const parent = this.#call.name === "bind" ? RESOLVE.parent : RESOLVE.follow;
    const path = this.#paths.reach(AT_FDCWD, encodeText(address.path), parent, this.#shared.pin(0));
    return { ...address, path };
  }
}
