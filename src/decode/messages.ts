import { type Argument, controlName } from "../abi/index.js";
import type { Stop } from "../kernel/stop.js";
import { type MessageHeader, readControls, readMessageHeader, readMessageName } from "./memory.js";
import { headersOf } from "./pieces.js";

/** The messages of a sendmsg or sendmmsg. Their headers are read once: what is decided on is what is used. */
export class Messages {
  readonly #tid: number;
  readonly #headers: readonly (MessageHeader | undefined)[];
  #controls: readonly string[] | undefined;

  constructor(stop: Stop, argument: Argument | undefined, index: number) {
    this.#tid = stop.tid;
    this.#headers = argument
      ? headersOf(stop, argument, index).map((at) => readMessageHeader(stop.tid, at))
      : [];
  }

  /** The address of each as bytes. */
  names(): (Uint8Array | undefined)[] {
    return this.#headers.map((header) => header && readMessageName(this.#tid, header));
  }

  /** The control messages of all of them. */
  get controls(): readonly string[] {
    this.#controls ??= this.#headers.flatMap((header) =>
      header ? readControls(this.#tid, header).map(([level, type]) => controlName(level, type)) : [],
    );
    return this.#controls;
  }
}
