import { h } from "../report/dom.js";
import { get } from "./api.js";
import type { Pending, Settled } from "./approvals.js";
import { type Finding, finding, part } from "./findings.js";
import { button, clock, lines } from "./view.js";

export interface Given {
  readonly id: string;
  readonly answer: "once" | "session" | "always" | "no" | "no-session" | "never";
  readonly note: string;
}

interface Item extends Pending {
  readonly state: string;
  readonly digest: string;
  readonly notAlways?: string;
  /** What an answer that lasts covers. */
  readonly covers: string;
  readonly findings: readonly Finding[];
  readonly detail: Readonly<Record<string, unknown>>;
  readonly asker: { agent?: string; workspace?: string; host?: string; pid?: number };
}

/** Answers that hold beyond this session: given after a second look at what they cover. */
const LASTING: ReadonlySet<Given["answer"]> = new Set(["always", "never"]);
const KEYS = { y: "once", s: "session", a: "always" } as const;

/** Everything about one approval that helps to decide, and the answers. */
export class Detail {
  readonly element = h("article", { class: "detail" });
  readonly #may: boolean;
  readonly #give: (given: Given) => void;
  readonly #back: () => void;
  #id: string | undefined;
  #open = false;
  #note: HTMLInputElement | undefined;
  #buttons: readonly HTMLButtonElement[] = [];
  readonly #choices = h("div", { class: "choices" });
  #covers = "";
  /** An answer that is to be confirmed. */
  #asked: Given["answer"] | undefined;

  constructor(may: boolean, give: (given: Given) => void, back: () => void) {
    this.#may = may;
    this.#give = give;
    this.#back = back;
    this.clear();
  }

  clear(): void {
    this.#id = undefined;
    this.#asked = undefined;
    this.#open = false;
    this.element.replaceChildren(
      h("p", { class: "empty" }, "Select a question: j and k move, ? shows all keys."),
    );
  }

  show(item: Pending): void {
    this.#id = item.id;
    this.#open = true;
    this.#covers = "";
    this.#asked = undefined;
    this.#fill(item.what, item.findings, [h("p", { class: "empty" }, "…")], undefined);
    get<Item>("/api/approval", { id: item.id }).then(
      (whole) => {
        if (this.#id !== item.id) return;
        const note = this.#note?.value ?? "";
        const typing = document.activeElement === this.#note;
        this.#covers = whole.covers;
        this.#fill(whole.what, whole.findings, parts(whole), whole.notAlways);
        if (this.#note) this.#note.value = note;
        if (typing) this.#note?.focus();
        this.element.dataset.whole = item.id;
        if (!this.#open) this.#disable();
      },
      (error: Error) => {
        if (this.#id === item.id) this.#fill(item.what, item.findings, [lines(error.message)], undefined);
      },
    );
  }

  /** An approver has answered it, or its time is over. */
  over({ state, by, scope }: Settled): void {
    this.#open = false;
    this.#disable();
    const who = by ? ` by ${by}` : "";
    const how =
      state === undefined
        ? "It is not asked any more."
        : `It is ${state}${scope ? ` (${scope})` : ""}${who}.`;
    this.element.prepend(h("p", { class: "banner" }, how));
  }

  /** The answer did not arrive: it can be given again. */
  again(id: string): void {
    if (this.#id !== id) return;
    this.#open = true;
    for (const one of this.#buttons) one.disabled = one.dataset.never === "true";
  }

  key(key: string): void {
    if (!this.#open || !this.#may) return;
    if (this.#asked) {
      if (key === "y") this.#answer(this.#asked);
      else if (key === "n" || key === "Escape") this.#confirm(undefined);
      return;
    }
    if (key === "n") {
      this.#note?.focus();
      return;
    }
    const answer = KEYS[key as keyof typeof KEYS];
    if (!answer || this.#buttons.find((one) => one.dataset.answer === answer)?.disabled) return;
    if (LASTING.has(answer)) this.#confirm(answer);
    else this.#answer(answer);
  }

  #fill(
    what: string,
    findings: readonly Finding[],
    rest: readonly HTMLElement[],
    notAlways: string | undefined,
  ): void {
    delete this.element.dataset.whole;
    this.element.replaceChildren(
      button("‹ back", this.#back, { class: "back" }),
      h("div", { class: "asked" }, lines(what)),
      ...findings.map(finding),
      ...rest,
      this.#actions(notAlways),
    );
    // What is to be confirmed had the focus, and was moved.
    if (this.#asked) this.#choices.querySelector("button")?.focus();
  }

  #actions(notAlways: string | undefined): HTMLElement {
    if (!this.#may) return h("p", { class: "note" }, "You may look, and not answer.");
    const note = h("input", {
      type: "text",
      placeholder: "a word to the agent",
      maxlength: "1000",
      "aria-label": "a word to the agent",
    });
    this.#note = note as HTMLInputElement;
    note.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") this.#answer("no");
      if (event.key === "Escape") note.blur();
    });
    const choice = (answer: Given["answer"], label: string, key?: string) => {
      const act = () => (LASTING.has(answer) ? this.#confirm(answer) : this.#answer(answer));
      const made = button(key === undefined ? label : `${label} `, act, {
        class: answer.startsWith("n") ? "no" : "yes",
        "data-answer": answer,
        ...(key !== undefined && { "aria-keyshortcuts": key }),
      });
      if (key !== undefined) made.append(h("kbd", {}, key));
      return made;
    };
    this.#buttons = [
      choice("once", "Approve once", "y"),
      choice("session", "For this session", "s"),
      choice("always", "Always…", "a"),
      choice("no", "Refuse", "n"),
      choice("no-session", "Not in this session"),
      choice("never", "Never…"),
    ];
    if (notAlways !== undefined) {
      const always = this.#buttons[2]!;
      always.disabled = true;
      always.dataset.never = "true";
      always.title = notAlways;
    }
    // What it covers has arrived while it was to be confirmed.
    if (notAlways !== undefined && this.#asked === "always") this.#asked = undefined;
    this.#confirm(this.#asked);
    return h(
      "div",
      { class: "actions" },
      note,
      this.#choices,
      notAlways !== undefined && h("p", { class: "note" }, `Not for always: ${notAlways}.`),
    );
  }

  /** Says what an answer for always covers, before it is given. Enter must not give it. */
  #confirm(answer: Given["answer"] | undefined): void {
    this.#asked = answer;
    if (answer === undefined) {
      this.#choices.replaceChildren(...this.#buttons);
      return;
    }
    const [word, kind] = answer === "always" ? ["Approve", "yes"] : ["Refuse", "no"];
    const cancel = button("Cancel ", () => this.#confirm(undefined));
    cancel.append(h("kbd", {}, "n"));
    const sure = button(`${word} always `, () => this.#answer(answer), {
      class: kind!,
      "data-answer": "sure",
    });
    sure.append(h("kbd", {}, "y"));
    this.#choices.replaceChildren(
      h(
        "p",
        { class: "sure", role: "alert" },
        `${word} in every session: ${this.#covers || "exactly this"}. It can be taken back below the list, or by hermes approvals revoke.`,
      ),
      cancel,
      sure,
    );
    cancel.focus();
  }

  #answer(answer: Given["answer"]): void {
    if (!this.#open || this.#id === undefined) return;
    this.#open = false;
    this.#disable();
    this.#give({ id: this.#id, answer, note: this.#note?.value ?? "" });
  }

  #disable(): void {
    for (const one of this.#buttons) one.disabled = true;
    this.#note?.blur();
  }
}

function parts(item: Item): HTMLElement[] {
  const { asker, detail, session, created, expires, digest, covers } = item;
  const { diff, explanation, who, ...rest } = detail;
  const from = [asker.agent, asker.workspace, asker.host && `${asker.host} (${asker.pid})`];
  const facts: [string, string][] = [
    ["who", from.filter(Boolean).join(" · ")],
    ["asked", `${clock(created)}; without an answer it is refused at ${clock(expires)}`],
    ["scope", `for this session, or always: ${covers}`],
  ];
  const more: [string, string][] = [
    ["session", session],
    ["digest", digest],
  ];
  return [
    ...(Array.isArray(who) && who.length > 0 ? [part("process", lines(who.map(asking).join("\n")))] : []),
    ...(Array.isArray(explanation) && explanation.length > 0
      ? [part("what it would do", lines(explanation.join("\n")))]
      : []),
    ...(typeof diff === "string" && diff !== "" ? [part("diff", lines(diff, changed))] : []),
    ...Object.entries(rest)
      .filter(([, value]) => !isEmpty(value))
      .map(([name, value]) => part(name, lines(inWords(value)))),
    table(facts),
    h("details", {}, h("summary", {}, "more"), table(more)),
  ];
}

function table(facts: readonly (readonly [string, string])[]): HTMLElement {
  return h("dl", {}, ...facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

function asking(one: unknown): string {
  const { pid, command } = one as { pid?: unknown; command?: unknown };
  return `${String(command)} (${String(pid)})`;
}

function changed(line: string): string {
  if (line.startsWith("@@") || line.startsWith("---") || line.startsWith("+++")) return "hunk";
  return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "";
}

function isEmpty(value: unknown): boolean {
  return (
    value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0)
  );
}

function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(inWords).join("\n");
  return typeof value === "string" ? value : JSON.stringify(value);
}
