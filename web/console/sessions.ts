import { counted } from "../../src/nouns/counted.js";
import type { RunView } from "../../src/people/console/runs.js";
import { h } from "../report/dom.js";
import { get, post } from "./api.js";
import { twice } from "./skills.js";
import { LiveTrace } from "./trace.js";
import { button, clock, lines, notice, type User, type View } from "./view.js";

interface Session {
  readonly id: string;
  readonly started: number;
  readonly host: string;
  readonly pid: number;
  readonly workspace: string;
  readonly agent: string;
  readonly gone: boolean;
  readonly calls: readonly Call[];
}

interface Call {
  readonly id: string;
  readonly tool: string;
  readonly status: string;
  readonly created: number;
  readonly started: number | null;
  readonly ended: number | null;
  readonly input: string;
}

const LOOK_MS = 1500;

/** Agents at work with their latest calls, and programs under supervision on this machine. */
export class SessionsView implements View {
  readonly id = "sessions";
  readonly title = "Sessions";
  readonly element: HTMLElement;
  readonly #may: boolean;
  readonly #runs = h("div", { class: "stack runs" });
  readonly #trace = new LiveTrace();
  readonly #sessions = h("div", { class: "stack agents" });
  /** Counts how often it was shown or hidden: a follower stops when that changes. */
  #round = 0;

  constructor({ role }: User) {
    this.#may = role === "admin";
    this.element = h(
      "div",
      { class: "stack" },
      h("h2", {}, "Programs under supervision here"),
      this.#trace.element,
      this.#runs,
      h("h2", {}, "Agents"),
      this.#sessions,
    );
  }

  shown(): void {
    this.#round++;
    void this.#follow(
      () => get<RunView[]>("/api/runs"),
      this.#runs,
      (run) => this.#run(run),
      "No program runs under supervision.",
    );
    void this.#follow(() => get<Session[]>("/api/sessions"), this.#sessions, session, "No agent is at work.");
  }

  hidden(): void {
    this.#round++;
    this.#trace.close();
  }

  async #follow<T>(
    ask: () => Promise<readonly T[]>,
    into: HTMLElement,
    show: (one: T) => HTMLElement,
    none: string,
  ): Promise<void> {
    for (const round = this.#round; round === this.#round; ) {
      try {
        const all = await ask();
        // A button that is about to be pressed a second time stays where it is.
        if (!into.querySelector('[data-sure="true"]'))
          into.replaceChildren(...(all.length === 0 ? [h("p", { class: "empty" }, none)] : all.map(show)));
      } catch (error) {
        into.replaceChildren(h("p", { class: "bad" }, (error as Error).message));
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  #run(run: RunView): HTMLElement {
    const { supervisor, started, command, paused, calls, callsPerSecond, policies, decisions, tree } = run;
    const act = (name: string) => () =>
      void post("/api/runs/act", { supervisor, started, act: name }).then(
        () => notice(`${name}: done`, "good"),
        (error: Error) => notice(error.message, "bad"),
      );
    return h(
      "article",
      { class: "card run", "data-supervisor": supervisor },
      h(
        "div",
        { class: "row" },
        h("strong", { class: "what" }, command.join(" ")),
        paused && h("span", { class: "chip bad" }, "paused"),
      ),
      h(
        "p",
        { class: "note" },
        `since ${clock(started * 1000)} · ${counted(tree.length, "process", "processes")} · ${Math.round(callsPerSecond).toLocaleString("en")} calls/s · ${calls.toLocaleString("en")} in all · ${policies.map(({ name, version }) => `${name} ${version.slice(0, 8)}`).join(", ") || "no policy"}`,
      ),
      tree.length > 0 && lines(treeText(tree)),
      ...decisions.map(({ action, what, count }) =>
        h(
          "div",
          { class: action === "deny" || action === "kill" ? "bad" : "note" },
          `${count} × ${action} ${what}`,
        ),
      ),
      run.trace !== undefined &&
        button("Watch its calls", () => this.#trace.open({ supervisor, started }, command.join(" "))),
      this.#may &&
        h(
          "div",
          { class: "row" },
          paused ? button("Go on", act("resume")) : button("Pause", act("pause")),
          twice("End", "Ask it to end", act("end"), "no"),
          twice("Kill", "Kill all its processes", act("kill"), "no"),
        ),
    );
  }
}

function session({ id, agent, workspace, host, pid, started, gone, calls }: Session): HTMLElement {
  return h(
    "article",
    { class: "card agent", "data-id": id },
    h("strong", {}, agent),
    h(
      "p",
      { class: "note" },
      `${workspace} · ${host} (${pid})${gone ? ", which has ended" : ""} · since ${clock(started)}`,
    ),
    ...calls.map((call) =>
      h(
        "div",
        { class: "call" },
        h("span", { class: `state ${call.status.toLowerCase()}` }, call.status.toLowerCase()),
        h("span", {}, clock(call.created)),
        h("span", {}, call.tool),
        h("span", { class: "what" }, call.input),
        h("span", {}, call.ended === null ? "" : `${call.ended - (call.started ?? call.created)} ms`),
      ),
    ),
  );
}

function treeText(tree: RunView["tree"]): string {
  const depth = new Map<number, number>();
  return tree
    .map(({ pid, parent, command }) => {
      const at = (depth.get(parent) ?? -1) + 1;
      depth.set(pid, at);
      return `${"  ".repeat(at)}${pid} ${command.join(" ")}`;
    })
    .join("\n");
}
