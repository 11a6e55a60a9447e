/** A call between its two records. One object serves many calls, one after the other. */
export class OpenCall {
  nr = 0;
  site = 0;
  cycles = 0;
  readonly values = new Uint32Array(12);
  /** Its door has already reported it. */
  told = false;
}

/** Signal handlers nested deeper than this are not followed. */
const MOST_OPEN = 64;

/**
 * Finds the call that a return belongs to. A signal handler makes calls while another one waits, so pending
 * calls form a stack. A call left by longjmp never returns: it is dropped when a call below it returns.
 */
export class OpenCalls {
  readonly #calls: OpenCall[] = [];
  #depth = 0;

  /** The latest call, for the caller to fill in; undefined when too many are pending. */
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

  /** The call that returned to this site. Calls above it, which will never return, go to `left` first. */
  pop(site: number, left: (call: OpenCall) => void): OpenCall | undefined {
    let at = this.#depth - 1;
    while (at >= 0 && this.#calls[at]!.site !== site) at--;
    if (at < 0) return undefined;
    for (let i = this.#depth - 1; i > at; i--) left(this.#calls[i]!);
    this.#depth = at;
    return this.#calls[at];
  }

  /** The thread has ended: drops all pending calls. */
  end(left: (call: OpenCall) => void): void {
    while (this.#depth > 0) left(this.#calls[--this.#depth]!);
  }
}
