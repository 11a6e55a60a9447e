import { controlName } from "../../abi/index.js";
import { messageHeadersOf, type StoppedMemory } from "./argument-pieces.js";
import { type MessageHeader, readControls, readMessageHeader, readMessageName } from "./memory.js";
import type { Snapshot } from "./snapshot.js";

/**
 * The messages of a sendmsg or sendmmsg. Their headers are read once, so that the call uses the checked
 * headers.
 */
export class Messages {
  readonly #memory: Snapshot;
  readonly #headers: readonly (MessageHeader | undefined)[];
  #controls: readonly string[] | undefined;

  constructor({ call, stop, snapshot }: StoppedMemory, index: number) {
    this.#memory = snapshot;
    this.#headers = messageHeadersOf(stop, call.args[index]!, index).map((at) =>
      readMessageHeader(snapshot, at),
    );
  }

  /** The address of each as bytes. */
  names(): (Uint8Array | undefined)[] {
    return this.#headers.map((header) => header && readMessageName(this.#memory, header));
  }

  /** The control messages of all of them. */
  get controls(): readonly string[] {
    this.#controls ??= this.#headers.flatMap((header) =>
      header ? readControls(this.#memory, header).map(([level, type]) => controlName(level, type)) : [],
    );
    return this.#controls;
  }
}
