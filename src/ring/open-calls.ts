/** A call between its two records. One object serves many calls, one after the other. */
export class OpenCall {
  nr = 0;
  site = 0;
  cycles = 0;
  readonly values = new Uint32Array(12);
  /** Its door has already told of it. */
  told = false;
}

/** Handlers within handlers: deeper than this, nobody follows. */
const MOST_OPEN = 64;

/**
 * Finds the call that a return belongs to. A signal handler makes calls while another waits, so they are a stack; one
 * that is left by longjmp never returns, and what is above the call that does return is over with it.
 */
export class OpenCalls {
  readonly #calls: OpenCall[] = [];
  #depth = 0;

  /** The call that was made last, for the caller to fill in; undefined when they are too many. */
  push(): OpenCall | undefined {
    if (this.#depth >= MOST_OPEN) return undefined;
    let call = this.#calls[this.#depth];
    if (!call) {
      call = new OpenCall();
      this.#calls.push(call);
    }
    call.told = false;
    this.#depth++;
    return call;
  }

  get last(): OpenCall | undefined {
    return this.#calls[this.#depth - 1];
  }

  /** The call that has returned to its site; those that were made after it and never will go to `left` first. */
  pop(site: number, left: (call: OpenCall) => void): OpenCall | undefined {
    let at = this.#depth - 1;
    while (at >= 0 && this.#calls[at]!.site !== site) at--;
    if (at < 0) return undefined;
    for (let i = this.#depth - 1; i > at; i--) left(this.#calls[i]!);
    this.#depth = at;
    return this.#calls[at];
  }

  /** Nothing of this thread returns any more. */
  end(left: (call: OpenCall) => void): void {
    while (this.#depth > 0) left(this.#calls[--this.#depth]!);
  }
}
