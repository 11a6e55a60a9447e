import { h } from "../report/dom.js";
import { get, post } from "./api.js";
import { button, notice } from "./view.js";

interface Lasting {
  readonly key: string;
  readonly grants: boolean;
  readonly what: string;
  readonly covers: string;
  readonly by?: string;
}

/** The answers that hold for always. An approver can revoke them. */
export class Always {
  readonly element = h("div", { class: "always" });
  readonly #may: boolean;

  constructor(may: boolean) {
    this.#may = may;
  }

  async load(): Promise<void> {
    const all = await get<Lasting[]>("/api/always").catch(() => []);
    const heading = all.length > 0 ? [h("h2", {}, "Answers for always")] : [];
    this.element.replaceChildren(...heading, ...all.map((one) => this.#row(one)));
  }

  #row({ key, grants, what, covers, by }: Lasting): HTMLElement {
    const revoke = () =>
      void post("/api/revoke", { key })
        .then(
          () => notice("revoked: it is asked again", "good"),
          (error: Error) => notice(error.message, "bad"),
        )
        .then(() => this.load());
    return h(
      "div",
      { class: "settled", "data-key": key, title: covers },
      h("span", { class: `state ${grants ? "granted" : "refused"}` }, grants ? "allow" : "deny"),
      h("span", {}, what),
      h("span", {}, by ? `by ${by}` : ""),
      this.#may && button("Revoke", revoke),
    );
  }
}
