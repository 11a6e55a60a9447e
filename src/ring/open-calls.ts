/** A call between its two records. */
export interface OpenCall {
  readonly nr: number;
  readonly site: number;
  readonly cycles: number;
  readonly values: Uint32Array;
}

/** Handlers within handlers: deeper than this, the outermost are forgotten. */
const MOST_OPEN = 64;

/**
 * Finds the call that a return belongs to. A signal handler makes calls while another waits, so they are a stack; one
 * that is left by longjmp never returns, and what is above the call that does return is dropped with it.
 */
export class OpenCalls {
  #open: OpenCall[] = [];

  called(call: OpenCall): OpenCall | undefined {
    this.#open.push(call);
    return this.#open.length > MOST_OPEN ? this.#open.shift() : undefined;
  }

  /** The call that has returned, and those that never will. */
  returned(site: number): { readonly call: OpenCall | undefined; readonly left: readonly OpenCall[] } {
    const at = this.#open.findLastIndex((call) => call.site === site);
    if (at < 0) return { call: undefined, left: [] };
    const left = this.#open.splice(at);
    return { call: left.shift(), left };
  }

  /** Nothing of this thread returns any more. */
  end(): readonly OpenCall[] {
    const left = this.#open;
    this.#open = [];
    return left;
  }
}
