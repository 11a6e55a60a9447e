import { counted } from "../../src/nouns/counted.js";
import { h } from "../report/dom.js";
import { get, post } from "./api.js";
import { part } from "./findings.js";
import { button, clock, notice, type User, type View } from "./view.js";

interface InForce {
  readonly file: string;
  readonly editable: boolean;
  readonly runs: readonly {
    readonly supervisor: number;
    readonly command: readonly string[];
    readonly trace?: string;
    readonly name: string;
    readonly version: string;
  }[];
}

interface Saved {
  readonly time: number;
  readonly by: string;
  readonly version: string;
  readonly before: string;
}

interface PolicyText {
  readonly file: string;
  readonly text: string;
  readonly digest: string;
  readonly editable: boolean;
  readonly history: readonly Saved[];
}

type Checked =
  | { readonly ok: true; readonly name: string; readonly calls: number; readonly notes: readonly string[] }
  | { readonly ok: false; readonly line: number | null; readonly message: string };

interface Tried {
  readonly events: number;
  readonly changes: number;
  readonly problems: readonly string[];
  readonly outcomes: readonly {
    readonly event: string;
    readonly count: number;
    readonly before?: string;
    readonly action: string;
    readonly rule?: string;
    readonly reason?: string;
  }[];
}

const PAUSE_MS = 300;

/** Which policy is in force where; its text, checked while it is edited, tried on a trace, saved, and taken back. */
export class Policies implements View {
  readonly id = "policies";
  readonly title = "Policies";
  readonly element: HTMLElement;
  readonly #may: boolean;
  readonly #list = h("div", { class: "list" });
  readonly #detail = h("article", { class: "detail editor" }, h("p", { class: "empty" }, "Select a policy."));
  readonly #numbers = h("div", { class: "numbers", "aria-hidden": "true" });
  readonly #text = h("textarea", {
    class: "code",
    spellcheck: "false",
    wrap: "off",
    "aria-label": "the policy",
  }) as HTMLTextAreaElement;
  readonly #trace = h("input", {
    type: "text",
    class: "code",
    placeholder: "/path/of/a/trace.jsonl",
    "aria-label": "trace",
  }) as HTMLInputElement;
  readonly #save = button("Save", () => void this.#saveIt(), { class: "yes" });
  readonly #told = h("div", { class: "told", role: "status" });
  readonly #tried = h("div", { class: "tried", role: "status" });
  readonly #history = h("div", { class: "history" });
  #open: PolicyText | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;

  constructor({ role }: User) {
    this.#may = role === "admin";
    this.element = h("div", { class: "approvals" }, h("div", { class: "side" }, this.#list), this.#detail);
    this.#text.addEventListener("input", () => this.#edited());
    this.#text.addEventListener("scroll", () => {
      this.#numbers.scrollTop = this.#text.scrollTop;
    });
  }

  shown(): void {
    void this.#load();
  }

  async #load(): Promise<void> {
    try {
      const all = await get<InForce[]>("/api/policies");
      this.#list.replaceChildren(...all.map((one) => this.#row(one)));
      if (all.length === 0)
        this.#list.replaceChildren(
          h(
            "p",
            { class: "empty item" },
            "No run on this machine has a policy in force. hermes console --policy FILE names others.",
          ),
        );
    } catch (error) {
      notice((error as Error).message, "bad");
    }
  }

  #row({ file, runs }: InForce): HTMLElement {
    const element = h(
      "div",
      { class: "item", role: "button", tabindex: "0", "data-file": file },
      h("div", { class: "what" }, file),
      ...runs.map(({ name, version, command }) =>
        h(
          "div",
          { class: "about" },
          h("span", { class: "chip" }, `${name} ${version}`),
          h("span", {}, command.join(" ")),
        ),
      ),
      runs.length === 0 && h("div", { class: "about" }, "not in force here"),
    );
    const open = () => void this.#show(file, runs.find(({ trace }) => trace !== undefined)?.trace);
    element.addEventListener("click", open);
    element.addEventListener("keydown", (event) => event.key === "Enter" && open());
    return element;
  }

  async #show(file: string, trace: string | undefined): Promise<void> {
    try {
      const policy = await get<PolicyText>("/api/policy", { file });
      const may = this.#may && policy.editable;
      this.#open = policy;
      this.#text.value = policy.text;
      this.#text.readOnly = !may;
      if (trace !== undefined) this.#trace.value = trace;
      this.#told.replaceChildren();
      this.#tried.replaceChildren();
      this.#number(undefined);
      this.#remember(policy.history);
      this.#save.disabled = true;
      const tools = [
        h(
          "div",
          { class: "row" },
          this.#trace,
          button("Try on this trace", () => void this.#try()),
        ),
        this.#tried,
        h("div", { class: "row" }, this.#save),
      ];
      const why = this.#may
        ? "Policies in TypeScript are programs: edit them where they are."
        : "You may look, and not change it.";
      this.#detail.replaceChildren(
        button("‹ back", () => this.element.classList.remove("open"), { class: "back" }),
        h("strong", {}, file),
        h("div", { class: "paper" }, this.#numbers, this.#text),
        this.#told,
        ...(may ? tools : [h("p", { class: "note" }, why)]),
        part("history", this.#history),
      );
      this.#detail.dataset.file = file;
      this.element.classList.add("open");
    } catch (error) {
      notice((error as Error).message, "bad");
    }
  }

  #edited(): void {
    this.#number(undefined);
    // Nothing is saved that was not checked.
    this.#save.disabled = true;
    this.#tried.replaceChildren();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#check(), PAUSE_MS);
  }

  async #check(): Promise<void> {
    const number = ++this.#asked;
    const body = { file: this.#open!.file, text: this.#text.value };
    const checked = await post<Checked>("/api/policy/check", body).catch(
      (error: Error): Checked => ({ ok: false, line: null, message: error.message }),
    );
    if (number !== this.#asked || body.text !== this.#text.value) return;
    this.#save.disabled = !checked.ok || body.text === this.#open!.text;
    this.#number(checked.ok ? undefined : (checked.line ?? undefined));
    if (checked.ok)
      this.#told.replaceChildren(
        h("p", { class: "good" }, `${checked.name}: decides on ${counted(checked.calls, "call")}`),
        ...checked.notes.map((note) => h("p", { class: "note" }, note)),
      );
    else
      this.#told.replaceChildren(
        h(
          "p",
          { class: "bad" },
          checked.line === null ? checked.message : `line ${checked.line}: ${checked.message}`,
        ),
      );
  }

  async #try(): Promise<void> {
    try {
      const body = { file: this.#open!.file, text: this.#text.value, trace: this.#trace.value };
      const { events, changes, outcomes, problems } = await post<Tried>("/api/policy/try", body);
      this.#tried.replaceChildren(
        h(
          "p",
          {},
          `${events.toLocaleString("en")} events; ${changes} kinds of them are decided otherwise than by the file as it is`,
        ),
        ...outcomes.map(({ event, count, before, action, rule, reason }) =>
          h(
            "div",
            { class: action === "deny" || action === "kill" ? "bad" : "good" },
            `${before ?? ""} → ${action}  ${event}${count > 1 ? ` ×${count}` : ""}  ${[rule, reason].filter(Boolean).join(": ")}`,
          ),
        ),
        ...problems.map((problem) => h("p", { class: "bad" }, problem)),
      );
    } catch (error) {
      this.#tried.replaceChildren(h("p", { class: "bad" }, (error as Error).message));
    }
  }

  async #saveIt(): Promise<void> {
    const { file, digest } = this.#open!;
    const text = this.#text.value;
    this.#save.disabled = true;
    try {
      const saved = await post<{ digest: string; history: Saved[] }>("/api/policy/save", {
        file,
        text,
        digest,
      });
      this.#open = { ...this.#open!, text, digest: saved.digest };
      this.#remember(saved.history);
      notice("saved; runs that have it in force load it anew", "good");
      void this.#load();
    } catch (error) {
      this.#save.disabled = false;
      notice((error as Error).message, "bad");
    }
  }

  #remember(history: readonly Saved[]): void {
    const { editable } = this.#open!;
    const load = async (version: string) => {
      try {
        const { text } = await get<{ text: string }>("/api/policy/version", { version });
        this.#text.value = text;
        this.#edited();
      } catch (error) {
        notice((error as Error).message, "bad");
      }
    };
    this.#history.replaceChildren(
      ...(history.length === 0 ? [h("p", { class: "note" }, "It was not saved here yet.")] : []),
      ...history.map(({ time, by, before }) =>
        h(
          "div",
          { class: "row" },
          h("span", { class: "note" }, `${new Date(time).toLocaleDateString()} ${clock(time)} by ${by}`),
          editable && this.#may && button("what was there before", () => void load(before)),
        ),
      ),
    );
  }

  /** Beside every line its number; the one that is wrong stands out. */
  #number(wrong: number | undefined): void {
    const count = this.#text.value.split("\n").length;
    this.#numbers.replaceChildren(
      ...Array.from({ length: count }, (_, i) =>
        h("div", i + 1 === wrong ? { class: "wrong" } : {}, String(i + 1)),
      ),
    );
  }
}
