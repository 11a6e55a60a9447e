import { h } from "../report/dom.js";
import { button } from "./view.js";

const KEYS: readonly (readonly [key: string, does: string])[] = [
  ["1 … 7", "the views"],
  ["j k, arrows", "the next, the one before"],
  ["y", "approve once"],
  ["s", "approve for this session"],
  ["a, then y", "approve always, after a look at what that covers"],
  ["n, then Enter", "refuse, with a word to the agent"],
  ["Escape", "back"],
  ["?", "these keys"],
];

/** The list of keys, over the page. */
export class Keys {
  readonly #dialog = h(
    "dialog",
    { class: "keys", "aria-label": "keys" },
    h("h2", {}, "Keys"),
    h("dl", {}, ...KEYS.flatMap(([key, does]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, does)])),
    button("Close", () => this.#dialog.close()),
  ) as HTMLDialogElement;

  get isOpen(): boolean {
    return this.#dialog.open;
  }

  show(): void {
    if (!this.#dialog.isConnected) document.body.append(this.#dialog);
    this.#dialog.showModal();
  }
}
