import { counted } from "../../src/nouns/counted.js";
import { AUDIT_KINDS } from "../../src/record/audit/records.js";
import { h } from "../report/dom.js";
import { get, post } from "./api.js";
import { type Judgement, judgement, part } from "./findings.js";
import { button, lines, notice, type View } from "./view.js";

interface Short {
  readonly chain: string;
  readonly seq: number;
  readonly time: number;
  readonly session: string | null;
  readonly kind: string;
  readonly line: string;
}

interface Whole extends Short {
  readonly body: unknown;
  readonly hash: string;
  readonly previous: string;
  readonly signature: string | null;
  readonly whole: boolean;
  readonly follows: boolean;
  readonly related: readonly Short[];
  readonly today?: Judgement | null;
}

interface ChainReport {
  readonly chain: string;
  readonly records: number;
  readonly signedFrom: number | null;
  readonly broken: { readonly message: string } | null;
}

const PAUSE_MS = 200;
const LIVE_MS = 1000;

/** The records: newest first, found by words, one of them explained. */
export class AuditView implements View {
  readonly id = "audit";
  readonly title = "Audit";
  readonly element: HTMLElement;
  readonly #search = h("input", {
    type: "search",
    placeholder: "all words must match",
    "aria-label": "search records",
    spellcheck: "false",
  }) as HTMLInputElement;
  readonly #kind = h(
    "select",
    { "aria-label": "kind" },
    h("option", { value: "" }, "all kinds"),
    ...AUDIT_KINDS.map((kind) => h("option", {}, kind)),
  ) as HTMLSelectElement;
  readonly #list = h("div", { class: "list records" });
  readonly #more = button("older", () => void this.#load(true));
  readonly #detail = h("article", { class: "detail" }, h("p", { class: "empty" }, "Select a record."));
  readonly #report = h("div", { class: "report", role: "status" });
  #oldest: number | undefined;
  /** The record that is shown, or about to be. */
  #opened: string | undefined;
  #isShown = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;

  constructor() {
    this.element = h(
      "div",
      { class: "approvals audit" },
      h(
        "div",
        { class: "side" },
        h(
          "div",
          { class: "row" },
          this.#search,
          this.#kind,
          button("Verify", () => void this.#verify()),
        ),
        this.#report,
        this.#list,
        this.#more,
      ),
      this.#detail,
    );
    this.#search.addEventListener("input", () => this.#later(PAUSE_MS));
    this.#kind.addEventListener("change", () => this.#later(0));
  }

  shown(): void {
    this.#isShown = true;
    void this.#load();
  }

  hidden(): void {
    this.#isShown = false;
  }

  /** There are new records: looked at once a second at most, however many there are. */
  written(): void {
    if (this.#isShown && this.#list.scrollTop === 0) this.#later(LIVE_MS, true);
  }

  key(key: string): void {
    if (key === "j" || key === "ArrowDown") this.#move(1);
    else if (key === "k" || key === "ArrowUp") this.#move(-1);
    else if (key === "Escape") this.element.classList.remove("open");
  }

  /** To the next record, or the one before. What is shown is the reader's own choice, so new records do not move it. */
  #move(by: 1 | -1): void {
    const rows = [...this.#list.children] as HTMLElement[];
    const at = rows.findIndex((row) => row.dataset.id === this.#opened);
    const next = rows[at < 0 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1)];
    if (next === undefined || next === rows[at]) return;
    next.click();
    next.scrollIntoView({ block: "nearest" });
  }

  #later(pause: number, waits = false): void {
    if (waits && this.#timer !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#load();
    }, pause);
  }

  async #load(older = false): Promise<void> {
    const number = ++this.#asked;
    try {
      const { records, more } = await get<{ records: Short[]; more: boolean }>("/api/audit", {
        q: this.#search.value,
        kind: this.#kind.value,
        ...(older && this.#oldest !== undefined && { until: String(this.#oldest - 1) }),
      });
      if (number !== this.#asked) return;
      const rows = records.map((record) => this.#row(record));
      if (older) this.#list.append(...rows);
      else this.#list.replaceChildren(...rows);
      this.#oldest = records.at(-1)?.time ?? this.#oldest;
      this.#more.hidden = !more || records.length === 0;
      this.#list.dataset.of = this.#search.value;
    } catch (error) {
      notice((error as Error).message, "bad");
    }
  }

  #row(record: Short): HTMLElement {
    const element = h(
      "div",
      { class: "item", tabindex: "0", role: "button", "data-id": idOf(record) },
      h("div", { class: "what" }, record.line),
      h(
        "div",
        { class: "about" },
        h("span", { class: "chip" }, record.kind),
        h("span", {}, `#${record.seq}`),
        h("span", {}, when(record.time)),
        h("span", {}, record.session?.slice(0, 8) ?? ""),
      ),
    );
    if (idOf(record) === this.#opened) element.setAttribute("aria-current", "true");
    const open = () => void this.#open(record);
    element.addEventListener("click", open);
    element.addEventListener("keydown", (event) => event.key === "Enter" && open());
    return element;
  }

  async #open(short: Short): Promise<void> {
    const { chain, seq } = short;
    this.#opened = idOf(short);
    for (const row of this.#list.children as HTMLCollectionOf<HTMLElement>)
      if (row.dataset.id === this.#opened) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    try {
      const record = await get<Whole>("/api/record", { chain, seq: String(seq) });
      if (this.#opened !== idOf(short)) return;
      const { whole, follows, related, today, signature, line, kind, time, hash, previous } = record;
      this.#detail.replaceChildren(
        button("‹ back", () => this.element.classList.remove("open"), { class: "back" }),
        h("div", { class: "asked" }, lines(line)),
        h("p", { class: "note" }, `${kind} · record ${seq} of ${chain} · ${when(time)}`),
        h(
          "p",
          { class: whole && follows ? "good" : "bad" },
          whole && follows
            ? `It is as it was written, and follows record ${seq - 1}${signature === null ? "" : "; signed"}.`
            : whole
              ? "It does not follow the record before it."
              : "It was changed after it was written.",
        ),
        part("record", lines(JSON.stringify(record.body, undefined, 2))),
        ...(today ? [part("what the guard says today", judgement(today))] : []),
        ...(related.length > 0
          ? [
              part(
                "about the same call",
                h("div", { class: "list" }, ...related.map((one) => this.#row(one))),
              ),
            ]
          : []),
        h("details", {}, h("summary", {}, "hashes"), lines(`${hash}\nafter ${previous}`)),
      );
      this.#detail.dataset.seq = String(seq);
      this.element.classList.add("open");
    } catch (error) {
      notice((error as Error).message, "bad");
    }
  }

  async #verify(): Promise<void> {
    this.#report.replaceChildren(h("p", { class: "note" }, "reading every record…"));
    try {
      const { chains } = await post<{ chains: ChainReport[] }>("/api/verify", {});
      this.#report.replaceChildren(
        ...chains.map(({ chain, records, broken, signedFrom }) =>
          h(
            "p",
            { class: broken ? "bad" : "good" },
            broken
              ? `${chain}: BROKEN: ${broken.message}`
              : `${chain}: whole, ${counted(records, "record")}, ${signedFrom === null ? "not signed" : `signed from ${signedFrom} on`}`,
          ),
        ),
      );
    } catch (error) {
      this.#report.replaceChildren(h("p", { class: "bad" }, (error as Error).message));
    }
  }
}

function idOf({ chain, seq }: Short): string {
  return `${seq} ${chain}`;
}

function when(time: number): string {
  return new Date(time).toISOString().replace("T", " ").slice(0, 19);
}
