import { counted } from "../../src/nouns/counted.js";
import { h } from "../report/dom.js";
import type { Pending } from "./approvals.js";
import { button } from "./view.js";

type Answer = "once" | "no";

interface Told {
  changed(): void;
  answer(answer: Answer): void;
}

interface Group<R> {
  /** Undefined: there are no groups. */
  readonly name: string | undefined;
  readonly rows: readonly R[];
}

/** What a question is grouped by. */
const GROUPS: Readonly<Record<string, (item: Pending) => string>> = {
  agent: ({ agent }) => agent,
  rule: ({ findings }) => findings[0]?.rule ?? "no rule",
  command: ({ what }) => what.replace(/^run /, "").trim().split(/\s+/).slice(0, 2).join(" "),
  workspace: ({ workspace }) => workspace,
};

/** Which questions are shown, in which groups, and one answer for all that are shown. */
export class Choice {
  readonly element: HTMLElement;
  readonly #filter = h("input", {
    type: "search",
    placeholder: "filter: words, agent, rule",
    "aria-label": "filter questions",
  }) as HTMLInputElement;
  readonly #by: HTMLSelectElement;
  readonly #answers = h("div", { class: "choices" });
  readonly #told: Told;
  readonly #may: boolean;
  #count = 0;
  /** What is to be confirmed. */
  #asked: Answer | undefined;

  constructor(may: boolean, told: Told) {
    this.#may = may;
    this.#told = told;
    this.#by = h(
      "select",
      { "aria-label": "group questions by" },
      h("option", { value: "" }, "oldest first"),
      ...Object.keys(GROUPS).map((name) => h("option", { value: name }, `by ${name}`)),
    ) as HTMLSelectElement;
    const changed = () => {
      this.#asked = undefined;
      told.changed();
    };
    this.#filter.addEventListener("input", changed);
    this.#by.addEventListener("change", changed);
    this.element = h(
      "div",
      { class: "choice" },
      h("div", { class: "how" }, this.#filter, this.#by),
      this.#answers,
    );
    this.element.hidden = true;
  }

  /** The rows that are to be shown, in groups. */
  grouped<R>(rows: readonly R[], itemOf: (row: R) => Pending): Group<R>[] {
    const words = this.#filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = rows.filter((row) => {
      const { what, agent, workspace, findings } = itemOf(row);
      const text = [what, agent, workspace, ...findings.map(({ rule }) => rule)].join("\n").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const by = GROUPS[this.#by.value];
    if (!by) return [{ name: undefined, rows: shown }];
    const groups = new Map<string, R[]>();
    for (const row of shown) {
      const name = by(itemOf(row));
      groups.set(name, [...(groups.get(name) ?? []), row]);
    }
    return [...groups].map(([name, own]) => ({ name: `${name} (${own.length})`, rows: own }));
  }

  /** How many are shown, of how many. A question that comes meanwhile is not answered with those that were read. */
  shown(count: number, all: number): void {
    // A filter that hides the last question can be taken away.
    this.element.hidden = all < 2 && this.#filter.value === "";
    if (count !== this.#count) this.#asked = undefined;
    this.#count = count;
    this.#answers.replaceChildren(...(this.#may && count > 1 ? this.#buttons() : []));
  }

  #buttons(): HTMLElement[] {
    const those = `these ${counted(this.#count, "question")}`;
    if (this.#asked === undefined)
      return [
        button(`Approve ${those} once…`, () => this.#ask("once"), { class: "yes" }),
        button(`Refuse ${those}…`, () => this.#ask("no"), { class: "no" }),
      ];
    const answer = this.#asked;
    const sure = button(
      `Yes, ${answer === "once" ? "approve" : "refuse"} all ${this.#count}`,
      () => {
        this.#asked = undefined;
        this.#told.answer(answer);
      },
      { class: answer === "once" ? "yes" : "no" },
    );
    return [button("Cancel", () => this.#ask(undefined)), sure];
  }

  #ask(answer: Answer | undefined): void {
    this.#asked = answer;
    this.#answers.replaceChildren(...this.#buttons());
    // Enter must not answer what has just been asked.
    this.#answers.querySelector("button")?.focus();
  }
}
