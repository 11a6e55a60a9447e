import type { Data } from "./data.js";
import { h, section } from "./dom.js";
import { count, formatDuration, spellInvisible } from "./format.js";
import type { Look } from "./look.js";

const ROW = 24;
const OVERSCAN = 8;
const HEADS = ["time", "process", "call", "about", "result", "took"];

/** Every event, one line each. Only the lines that can be seen exist: half a million are as quick as fifty. */
export function eventTable(data: Data, look: Look): HTMLElement {
  const { events, columns, processes, report } = data;
  const lower = lowered(data);
  let rows: Uint32Array = new Uint32Array();
  const search = h("input", {
    type: "search",
    placeholder: "search: all words must match; errno:ENOENT  action:deny  -word",
    "aria-label": "search events",
    spellcheck: "false",
  }) as HTMLInputElement;
  const status = h("output", { class: "note", role: "status", "aria-live": "polite" });
  const only = h("button", { type: "button", class: "chip", hidden: "" });
  const space = h("div", { class: "space" });
  const lines = h("div", { class: "lines", role: "rowgroup" });
  space.append(lines);
  const scroller = h(
    "div",
    { class: "scroller", tabindex: "0", role: "table", "aria-label": "events" },
    space,
  );

  const line = (event: number): HTMLElement => {
    const { time, process, call, subject, result, elapsed, errno, action } = columns;
    const by = processes.get(process[event]!);
    const [name, category] = events.calls[call[event]!]!;
    const error = events.errnos[errno[event]!]!;
    const decided = events.actions[action[event]!]!;
    const outcome =
      decided !== "allow" ? decided : error || (Number.isNaN(result[event]!) ? "" : String(result[event]));
    const kind = decided === "deny" || decided === "kill" ? "denied" : error ? "failed" : "";
    return h(
      "div",
      { class: `line ${kind}`, role: "row" },
      h("span", {}, (time[event]! - report.trace.from).toFixed(6)),
      h("span", {}, by ? `${by.name} ${by.pid}` : ""),
      h("span", { class: `call ${category}` }, name),
      h(
        "span",
        { title: spellInvisible(events.subjects[subject[event]!]!) },
        events.subjects[subject[event]!]!,
      ),
      h("span", {}, outcome + (decided !== "allow" && error ? ` ${error}` : "")),
      h("span", {}, elapsed[event]! > 0 ? formatDuration(elapsed[event]!) : ""),
    );
  };
  const draw = () => {
    const first = Math.max(0, Math.floor(scroller.scrollTop / ROW) - OVERSCAN);
    const last = Math.min(
      rows.length,
      Math.ceil((scroller.scrollTop + scroller.clientHeight) / ROW) + OVERSCAN,
    );
    lines.style.transform = `translateY(${first * ROW}px)`;
    lines.replaceChildren(...Array.from(rows.subarray(first, last), line));
  };
  const filter = () => {
    const wanted = look.text;
    if (search.value !== wanted && document.activeElement !== search) search.value = wanted;
    rows = matching(data, lower, look);
    space.style.height = `${rows.length * ROW}px`;
    const sampled =
      events.count < events.total
        ? ` (${count(events.total)} in the trace; ordinary ones are thinned out)`
        : "";
    status.textContent = `${count(rows.length)} of ${count(events.count)} events${sampled}`;
    const process = look.process === undefined ? undefined : processes.get(look.process);
    only.hidden = process === undefined;
    only.textContent = process ? `${spellInvisible(process.name)} (${process.pid}) ×` : "";
    scroller.scrollTop = 0;
    draw();
  };
  let waiting = false;
  const later = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      filter();
    });
  };
  scroller.addEventListener("scroll", draw, { passive: true });
  search.addEventListener("input", () => {
    look.text = search.value;
    later();
  });
  only.addEventListener("click", () => look.only(undefined));
  look.onChange(later);
  new ResizeObserver(draw).observe(scroller);
  requestAnimationFrame(filter);
  const head = h("div", { class: "line head" }, ...HEADS.map((name) => h("span", {}, name)));
  // On a narrow screen the lines go sideways, and their head with them.
  const sideways = () => {
    head.scrollLeft = scroller.scrollLeft;
  };
  scroller.addEventListener("scroll", sideways, { passive: true });
  return section(
    "events",
    "Events",
    "All calls within the part of the timeline that is shown.",
    h("div", { class: "search" }, search, only, status),
    head,
    scroller,
  );
}

/** Texts in small letters, once: searching compares numbers from then on. */
function lowered({ events, processes }: Data) {
  return {
    subjects: events.subjects.map((text) => text.toLowerCase()),
    calls: events.calls.map(([name, category]) => `${name} ${category}`),
    errnos: events.errnos.map((text) => text.toLowerCase()),
    actions: events.actions,
    processes: new Map([...processes].map(([id, { name, pid }]) => [id, `${name} ${pid}`.toLowerCase()])),
  };
}

interface Term {
  readonly negated: boolean;
  readonly subjects: Uint8Array;
  readonly calls: Uint8Array;
  readonly errnos: Uint8Array;
  readonly actions: Uint8Array;
  readonly processes: ReadonlySet<number>;
}

/** Which texts hold a word is found out once per text, not once per event. */
function term(word: string, lower: ReturnType<typeof lowered>): Term {
  const negated = word.length > 1 && word.startsWith("-");
  const bare = negated ? word.slice(1) : word;
  const [, field, rest] = /^(errno|action|call|process|path):(.*)$/.exec(bare) ?? [undefined, "", bare];
  const flags = (texts: readonly string[], name: string) =>
    Uint8Array.from(texts, (text) => ((field === "" || field === name) && text.includes(rest!) ? 1 : 0));
  return {
    negated,
    subjects: flags(lower.subjects, "path"),
    calls: flags(lower.calls, "call"),
    errnos: flags(lower.errnos, "errno"),
    actions: field === "action" ? flags(lower.actions, "action") : new Uint8Array(lower.actions.length),
    processes: new Set(
      [...lower.processes]
        .filter(([, text]) => (field === "" || field === "process") && text.includes(rest!))
        .map(([id]) => id),
    ),
  };
}

function matching({ events, columns }: Data, lower: ReturnType<typeof lowered>, look: Look): Uint32Array {
  const terms = look.text
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => term(word, lower));
  const { time, elapsed, process, subject, call, errno, action } = columns;
  const [from, to] = look.range;
  const found = new Uint32Array(events.count);
  let size = 0;
  for (let i = 0; i < events.count; i++) {
    if (!look.isWhole && (time[i]! > to || time[i]! + elapsed[i]! < from)) continue;
    if (look.process !== undefined && process[i] !== look.process) continue;
    const all = terms.every((t) => {
      const holds =
        t.subjects[subject[i]!] ||
        t.calls[call[i]!] ||
        t.errnos[errno[i]!] ||
        t.actions[action[i]!] ||
        t.processes.has(process[i]!);
      return Boolean(holds) !== t.negated;
    });
    if (all) found[size++] = i;
  }
  return found.subarray(0, size);
}
