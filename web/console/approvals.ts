import { h } from "../report/dom.js";
import { Always } from "./always.js";
import { get, post } from "./api.js";
import { beep } from "./beep.js";
import { Choice } from "./choice.js";
import { Detail, type Given } from "./detail.js";
import { clock, notice, type User, type View } from "./view.js";

export interface Pending {
  readonly id: string;
  readonly kind: "TOOL_CALL" | "DEED";
  readonly what: string;
  readonly session: string;
  readonly created: number;
  readonly expires: number;
  readonly findings: readonly { readonly rule: string; readonly reason: string }[];
  readonly agent: string;
  readonly workspace: string;
}

export interface Settled {
  readonly id: string;
  readonly what?: string;
  readonly state?: string;
  readonly scope?: string | null;
  readonly answered?: number;
  readonly by?: string | null;
  readonly note?: string | null;
}

interface Row {
  readonly item: Pending;
  readonly element: HTMLElement;
  readonly left: HTMLElement;
}

const SETTLED_SHOWN = 50;
/** A key that was meant for what was selected before must not answer what is selected now. */
const STEADY_MS = 500;

/** What waits for an answer. The selection changes only when the reader changes it. */
export class Approvals implements View {
  readonly id = "approvals";
  readonly title = "Approvals";
  readonly element: HTMLElement;
  readonly #rows = new Map<string, Row>();
  readonly #list = h("div", { class: "list", role: "listbox", "aria-label": "what waits for an answer" });
  readonly #empty = h("p", { class: "empty" });
  readonly #choice: Choice;
  readonly #lately = h("div", { class: "lately" });
  readonly #detail: Detail;
  readonly #always: Always;
  readonly #counted: (count: number) => void;
  #selected: string | undefined;
  #steadyFrom = 0;

  constructor(user: User, counted: (count: number) => void) {
    this.#counted = counted;
    this.#detail = new Detail(
      user.role !== "viewer",
      (given) => void this.#answer(given),
      () => this.#open(false),
    );
    this.#choice = new Choice(user.role !== "viewer", {
      changed: () => this.#arrange(),
      answer: (answer) => void this.#answerShown(answer),
    });
    this.#always = new Always(user.role !== "viewer");
    void this.#always.load();
    const lately = [h("h2", {}, "Answered lately"), this.#lately];
    this.element = h(
      "div",
      { class: "approvals" },
      h(
        "div",
        { class: "side" },
        this.#choice.element,
        this.#list,
        this.#empty,
        ...lately,
        this.#always.element,
      ),
      this.#detail.element,
    );
    setInterval(() => this.#tick(), 1000);
    void get<Settled[]>("/api/settled").then(
      (all) => {
        for (const one of all.toReversed()) this.#remember(one);
      },
      () => {},
    );
  }

  /** The present state: after the page was opened, or was away for long. */
  replace(items: readonly Pending[]): void {
    const now = new Set(items.map(({ id }) => id));
    for (const id of this.#rows.keys()) if (!now.has(id)) this.settled({ id });
    for (const item of items) this.#add(item);
    this.#count();
  }

  asked(item: Pending): void {
    const isNew = !this.#rows.has(item.id);
    this.#add(item);
    this.#count();
    if (isNew) beep();
  }

  settled(one: Settled): void {
    this.#rows.get(one.id)?.element.remove();
    this.#rows.delete(one.id);
    this.#count();
    if (one.state !== "pending" && one.state !== undefined) this.#remember(one);
    if (one.scope === "always") void this.#always.load();
    if (this.#selected === one.id) this.#detail.over(one);
  }

  key(key: string): void {
    if (key === "j" || key === "ArrowDown") this.#move(1);
    else if (key === "k" || key === "ArrowUp") this.#move(-1);
    else if (key === "Escape") this.#open(false);
    else if (Date.now() >= this.#steadyFrom) this.#detail.key(key);
  }

  #add(item: Pending): void {
    if (this.#rows.has(item.id)) return;
    const left = h("span", { class: "left" });
    const element = h(
      "div",
      { class: "item", role: "option", "data-id": item.id, tabindex: "0", "aria-selected": "false" },
      h("div", { class: "what" }, item.what),
      h(
        "div",
        { class: "about" },
        h("span", { class: "chip" }, item.kind === "DEED" ? "system call" : "tool"),
        h("span", {}, item.findings.map(({ rule }) => rule).join(", ")),
        h("span", {}, item.agent),
        left,
      ),
    );
    element.addEventListener("click", () => this.#select(item.id, true));
    this.#rows.set(item.id, { item, element, left });
    showLeft(left, item.expires);
    if (this.#selected === undefined) this.#select(item.id, false);
  }

  #select(id: string, open: boolean): void {
    const row = this.#rows.get(id);
    if (!row) return;
    if (this.#selected !== undefined)
      this.#rows.get(this.#selected)?.element.setAttribute("aria-selected", "false");
    this.#selected = id;
    row.element.setAttribute("aria-selected", "true");
    row.element.scrollIntoView({ block: "nearest" });
    this.#detail.show(row.item);
    this.#steadyFrom = open ? 0 : Date.now() + STEADY_MS;
    if (open) this.#open(true);
  }

  #move(by: 1 | -1): void {
    const ids = this.#shown;
    const at = this.#selected === undefined ? -1 : ids.indexOf(this.#selected);
    const next = at < 0 ? ids[0] : ids[Math.min(Math.max(at + by, 0), ids.length - 1)];
    if (next !== undefined) this.#select(next, true);
  }

  /** On a narrow screen the list or what is selected is seen. */
  #open(open: boolean): void {
    this.element.classList.toggle("open", open);
  }

  async #answer({ id, answer, note }: Given): Promise<void> {
    const next = this.#after(id);
    try {
      const { mine, told, state, scope } = await post<Answer>("/api/answer", { id, answer, note });
      const done = `${state}${scope === null ? "" : ` (${scope})`}`;
      notice(told ?? done, mine ? (state === "granted" ? "good" : "plain") : "bad");
      if (this.#selected !== id) return;
      this.#selected = undefined;
      this.#open(false);
      if (next !== undefined && this.#rows.has(next)) this.#select(next, false);
      else this.#detail.clear();
    } catch (error) {
      notice((error as Error).message, "bad");
      this.#detail.again(id);
    }
  }

  #after(id: string): string | undefined {
    const ids = this.#shown;
    const at = ids.indexOf(id);
    return ids[at + 1] ?? ids[at - 1];
  }

  #remember(one: Settled): void {
    const { id, what = "", state = "", scope, by, note, answered } = one;
    const words = [clock(answered ?? Date.now()), what, by ? `by ${by}` : "", note ? `“${note}”` : ""];
    const element = h(
      "div",
      { class: "settled", "data-id": id },
      h("span", { class: `state ${state}` }, scope ? `${state} (${scope})` : state),
      ...words.map((word) => h("span", {}, word)),
    );
    this.#lately.prepend(element);
    while (this.#lately.childElementCount > SETTLED_SHOWN) this.#lately.lastElementChild!.remove();
  }

  /** In the order of the list. */
  get #shown(): string[] {
    return [...this.#list.querySelectorAll<HTMLElement>(".item")].map(({ dataset }) => dataset.id!);
  }

  /** Those that the filter lets through, in groups. */
  #arrange(): void {
    const groups = this.#choice.grouped([...this.#rows.values()], ({ item }) => item);
    const [first] = groups;
    if (first && first.name === undefined)
      placeInOrder(
        this.#list,
        first.rows.map(({ element }) => element),
      );
    else
      this.#list.replaceChildren(
        ...groups.map(({ name = "", rows }) =>
          h(
            "div",
            { role: "group", "aria-label": name },
            h("div", { class: "group" }, name),
            ...rows.map(({ element }) => element),
          ),
        ),
      );
    const count = groups.reduce((sum, { rows }) => sum + rows.length, 0);
    this.#choice.shown(count, this.#rows.size);
    this.#empty.hidden = count > 0;
    this.#empty.textContent =
      this.#rows.size > 0
        ? "No question matches the filter."
        : "Nothing waits for an answer. Questions of agents (hermes install claude-code) and of runs (hermes run -p agent -- COMMAND) appear here.";
  }

  /** One answer for all that are shown; each is answered on its own, and others may be first. */
  async #answerShown(answer: "once" | "no"): Promise<void> {
    const ids = this.#shown;
    const given = await Promise.allSettled(
      ids.map((id) => post<Answer>("/api/answer", { id, answer, note: "" })),
    );
    const mine = given.filter((one) => one.status === "fulfilled" && one.value.mine).length;
    notice(
      `${mine} of ${ids.length} ${answer === "once" ? "approved once" : "refused"}`,
      mine === ids.length ? "good" : "bad",
    );
  }

  #count(): void {
    this.#arrange();
    this.#counted(this.#rows.size);
  }

  #tick(): void {
    for (const { item, left } of this.#rows.values()) showLeft(left, item.expires);
  }
}

/** What is in its place already stays there, with the focus and the place on the screen that it has. */
function placeInOrder(list: HTMLElement, wanted: readonly HTMLElement[]): void {
  const keep = new Set<Element>(wanted);
  for (const child of [...list.children]) if (!keep.has(child)) child.remove();
  for (const [i, element] of wanted.entries())
    if (list.children[i] !== element) list.insertBefore(element, list.children[i] ?? null);
}

interface Answer {
  readonly mine: boolean;
  readonly state: string;
  readonly scope: string | null;
  readonly told?: string;
}

function showLeft(element: HTMLElement, expires: number): void {
  const seconds = Math.max(0, Math.round((expires - Date.now()) / 1000));
  const text =
    seconds >= 5400
      ? `${Math.round(seconds / 3600)} h left`
      : seconds >= 90
        ? `${Math.round(seconds / 60)} min left`
        : `${seconds} s left`;
  if (element.textContent !== text) element.textContent = text;
  element.classList.toggle("soon", seconds < 30);
}
