import { h } from "../report/dom.js";
import { get, post } from "./api.js";
import { type Finding, finding } from "./findings.js";
import { button, notice, type User, type View } from "./view.js";

interface Quarantined {
  readonly id: string;
  readonly name: string;
  readonly source?: string;
  readonly digest: string;
  readonly at: string;
  readonly action: string;
  readonly findings: readonly Finding[];
}

/** Skills that wait for a person, and those that are installed. */
export class Skills implements View {
  readonly id = "skills";
  readonly title = "Skills";
  readonly element = h("div", { class: "stack" });
  readonly #may: boolean;

  constructor({ role }: User) {
    this.#may = role === "admin";
  }

  shown(): void {
    void this.#load();
  }

  async #load(): Promise<void> {
    try {
      const { installed, quarantined } = await get<{ installed: string[]; quarantined: Quarantined[] }>(
        "/api/skills",
      );
      this.element.replaceChildren(
        h("h2", {}, "In quarantine"),
        ...(quarantined.length === 0 ? [h("p", { class: "empty" }, "Nothing is in quarantine.")] : []),
        ...quarantined.map((one) => this.#card(one)),
        h("h2", {}, "Installed"),
        h("p", {}, installed.length === 0 ? "None." : installed.join(", ")),
      );
    } catch (error) {
      notice((error as Error).message, "bad");
    }
  }

  #card({ id, name, source, digest, at, findings }: Quarantined): HTMLElement {
    const act = (path: string, done: string) => async () => {
      await post(path, { id }).then(
        () => notice(`${name} is ${done}`, "good"),
        (error: Error) => notice(error.message, "bad"),
      );
      await this.#load();
    };
    return h(
      "article",
      { class: "card skill", "data-id": id },
      h("strong", {}, name),
      h("p", { class: "note" }, `${source ?? "no source"} · since ${at} · sha256 ${digest.slice(0, 16)}`),
      ...findings.map(finding),
      this.#may &&
        h(
          "div",
          { class: "row" },
          twice("Release", "Release it: agents will find it", act("/api/skills/release", "released"), "yes"),
          twice("Delete", "Delete it for good", act("/api/skills/delete", "deleted"), "no"),
        ),
    );
  }
}

/** What cannot be undone is asked twice. */
export function twice(label: string, sure: string, act: () => void, name: string): HTMLElement {
  let patience: number | undefined;
  const disarm = () => {
    element.dataset.sure = "false";
    element.textContent = label;
  };
  const element = button(
    label,
    () => {
      clearTimeout(patience);
      if (element.dataset.sure === "true") {
        disarm();
        return act();
      }
      element.dataset.sure = "true";
      element.textContent = sure;
      patience = window.setTimeout(disarm, 4000);
    },
    { class: name },
  );
  return element;
}
