import { h } from "../report/dom.js";
import { get, post } from "./api.js";
import { button, notice, type User, type View } from "./view.js";

interface Trace {
  readonly command: readonly string[];
  readonly trace: string;
}

/** A trace, as the report that `hermes analyze` writes. */
export class Analysis implements View {
  readonly id = "analysis";
  readonly title = "Analysis";
  readonly element: HTMLElement;
  readonly #may: boolean;
  readonly #trace = h("input", {
    type: "text",
    class: "code",
    placeholder: "/path/of/a/trace.jsonl",
    "aria-label": "trace",
  }) as HTMLInputElement;
  readonly #make = button("Write the report", () => void this.#report());
  readonly #result = h("p", { class: "made", role: "status" });
  readonly #traces = h("div", { class: "list" });

  constructor({ role }: User) {
    this.#may = role === "admin";
    this.element = h(
      "div",
      { class: "card stack" },
      h(
        "p",
        { class: "note" },
        this.#may
          ? "What a trace tells: patterns worth a second look, files, network, processes, every event."
          : "Reports are for admins.",
      ),
      this.#may && h("div", { class: "row" }, this.#trace, this.#make),
      this.#result,
      h("h2", {}, "Traces of what runs here"),
      this.#traces,
    );
  }

  shown(): void {
    get<Trace[]>("/api/traces").then(
      (all) => this.#traces.replaceChildren(...all.map((one) => this.#row(one))),
      (error: Error) => notice(error.message, "bad"),
    );
  }

  #row({ command, trace }: Trace): HTMLElement {
    const element = h(
      "div",
      { class: "item", role: "button", tabindex: "0" },
      h("div", { class: "what" }, trace),
      h("div", { class: "about" }, command.join(" ")),
    );
    element.addEventListener("click", () => {
      this.#trace.value = trace;
    });
    return element;
  }

  async #report(): Promise<void> {
    this.#make.disabled = true;
    this.#result.replaceChildren("reading the trace…");
    try {
      const { address } = await post<{ address: string }>("/api/report", { trace: this.#trace.value });
      this.#result.replaceChildren(
        h("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, "Open the report"),
        " (it is kept for ten minutes)",
      );
    } catch (error) {
      this.#result.replaceChildren(h("span", { class: "bad" }, (error as Error).message));
    }
    this.#make.disabled = false;
  }
}
