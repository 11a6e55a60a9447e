import type { LiveCall } from "../../src/people/console/runs.js";
import { h } from "../report/dom.js";
import { get } from "./api.js";
import { button } from "./view.js";

const LOOK_MS = 1000;

/** The latest calls of one run, as they are recorded. */
export class LiveTrace {
  readonly element = h("article", { class: "card live", hidden: "" });
  readonly #search = h("input", {
    type: "search",
    placeholder: "all words must match: openat deny /etc",
    "aria-label": "search calls",
    spellcheck: "false",
  }) as HTMLInputElement;
  readonly #title = h("strong", {});
  readonly #lines = h("div", { class: "lines" });
  readonly #told = h("p", { class: "note" });
  #of: { readonly supervisor: number; readonly started: number } | undefined;

  constructor() {
    this.element.append(
      h(
        "div",
        { class: "row" },
        this.#title,
        this.#search,
        button("Close", () => this.close()),
      ),
      this.#told,
      this.#lines,
    );
  }

  open(of: { readonly supervisor: number; readonly started: number }, command: string): void {
    this.#of = of;
    this.element.hidden = false;
    this.#title.replaceChildren(h("span", {}, command.slice(0, 80)));
    void this.#follow(of);
  }

  close(): void {
    this.#of = undefined;
    this.element.hidden = true;
  }

  async #follow(of: { readonly supervisor: number; readonly started: number }): Promise<void> {
    while (this.#of === of) {
      const query = { supervisor: String(of.supervisor), started: String(of.started), q: this.#search.value };
      try {
        const calls = await get<LiveCall[]>("/api/trace", query);
        this.#told.replaceChildren(`the latest ${calls.length}, newest first`);
        this.#lines.replaceChildren(...calls.map(line));
      } catch (error) {
        this.#told.replaceChildren(h("span", { class: "bad" }, (error as Error).message));
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}

function line({ time, pid, name, about, action, result, why }: LiveCall): HTMLElement {
  const refused = action === "deny" || action === "kill";
  return h(
    "div",
    { class: refused ? "call bad" : "call" },
    h("span", {}, (time % 86_400).toFixed(3)),
    h("span", {}, pid),
    h("span", { class: "name" }, name),
    h("span", { class: "what" }, about),
    h("span", {}, action === "allow" ? result : `${action} ${result}`),
    why !== undefined && h("span", {}, why),
  );
}
