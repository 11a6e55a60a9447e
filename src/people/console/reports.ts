import { randomBytes } from "node:crypto";

const KEPT = 4;
const KEPT_MS = 10 * 60_000;

/** Reports on traces, each under an address that cannot be guessed, for a while. */
export class Reports {
  readonly #kept = new Map<string, { readonly page: Buffer; readonly until: number }>();

  add(page: Buffer): string {
    const address = `/report/${randomBytes(32).toString("base64url")}`;
    this.#kept.set(address, { page, until: Date.now() + KEPT_MS });
    if (this.#kept.size > KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    return address;
  }

  /** With rules of its own: it carries its script along, and so it gets no part in this console's origin. */
  page(address: string): { readonly page: Buffer; readonly policy: string } | undefined {
    const found = this.#kept.get(address);
    if (!found || found.until <= Date.now()) return undefined;
    return {
      page: found.page,
      policy:
        "sandbox allow-scripts; connect-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    };
  }
}
