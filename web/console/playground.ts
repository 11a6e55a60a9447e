import { h } from "../report/dom.js";
import { post } from "./api.js";
import { type Judgement, judgement, marked } from "./findings.js";
import { lines, type View } from "./view.js";

const KINDS = ["command", "python", "path", "url", "text", "memory", "mcp", "env"];
const PAUSE_MS = 120;

/** Type something and see what the guard makes of it. Nothing is run. */
export class Playground implements View {
  readonly id = "guard";
  readonly title = "Guard";
  readonly element: HTMLElement;
  readonly #input = h("textarea", {
    class: "code",
    rows: "5",
    spellcheck: "false",
    placeholder: "git push --force origin main",
    "aria-label": "what an agent would do",
  }) as HTMLTextAreaElement;
  readonly #kind = h(
    "select",
    { "aria-label": "kind" },
    ...KINDS.map((kind) => h("option", {}, kind)),
  ) as HTMLSelectElement;
  readonly #result = h("div", { class: "result", role: "status", "aria-live": "polite" });
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;

  constructor() {
    this.element = h(
      "div",
      { class: "card playground" },
      h(
        "p",
        { class: "note" },
        "What the guard makes of it, as you type. Nothing is run, and nothing is recorded.",
      ),
      h("div", { class: "row" }, this.#kind),
      this.#input,
      this.#result,
    );
    this.#input.addEventListener("input", () => this.#later());
    this.#kind.addEventListener("change", () => this.#later());
  }

  shown(): void {
    this.#input.focus();
  }

  #later(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#ask(), PAUSE_MS);
  }

  async #ask(): Promise<void> {
    const number = ++this.#asked;
    const [kind, input] = [this.#kind.value, this.#input.value];
    if (input.trim() === "") return this.#result.replaceChildren();
    const shown = await post<Judgement>("/api/guard", { kind, input }).then(
      (judged) => [judgement(judged), marked(input, judged.findings)],
      (error: Error) => [lines(error.message)],
    );
    // An answer that comes late must not be shown beside a newer question.
    if (number !== this.#asked) return;
    this.#result.replaceChildren(...shown);
    this.#result.dataset.of = input;
  }
}
