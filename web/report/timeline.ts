import { counted } from "../../src/nouns/counted.js";
import { childrenOf, type Data, type ReportedProcess } from "./data.js";
import { canvas, colour, h, hideTip, section, showTip } from "./dom.js";
import { formatDuration, shorten, spellInvisible, ticks } from "./format.js";
import type { Look } from "./look.js";

const ROW = 20;
const AXIS = 24;
const LABELS = 190;
const MAX_HEIGHT = 420;
export const CATEGORIES = [
  "other",
  "memory",
  "waiting",
  "read",
  "write",
  "process",
  "network",
  "denied",
] as const;

interface Row {
  readonly process: ReportedProcess;
  readonly depth: number;
  /** Its events, in the order of time. */
  events: Uint32Array;
}

/** Processes × time: bars are lives, marks in them are calls by what they are about. Wheel zooms, dragging moves. */
export function timeline(data: Data, look: Look): HTMLElement {
  const rows = rowsOf(data);
  const categories = categoriesOf(data);
  const height = Math.min(MAX_HEIGHT, AXIS + rows.length * ROW + 6);
  let scroll = 0;
  let hover: { x: number; y: number } | undefined;
  const view = canvas(height, "timeline of processes", draw);
  const { element, redraw } = view;
  const maxScroll = () => Math.max(0, AXIS + rows.length * ROW + 6 - element.clientHeight);
  const toX = (time: number, width: number) =>
    LABELS + ((time - look.range[0]) / (look.range[1] - look.range[0])) * (width - LABELS);
  const toTime = (x: number) =>
    look.range[0] + ((x - LABELS) / (element.clientWidth - LABELS)) * (look.range[1] - look.range[0]);
  const rowAt = (y: number) => rows[Math.floor((y - AXIS + scroll) / ROW)];

  function draw(context: CanvasRenderingContext2D, width: number, tall: number): void {
    drawAxis(context, width, tall);
    const first = Math.max(0, Math.floor(scroll / ROW));
    const last = Math.min(rows.length, Math.ceil((scroll + tall) / ROW));
    context.save();
    context.beginPath();
    context.rect(0, AXIS, width, tall - AXIS);
    context.clip();
    for (let i = first; i < last; i++) drawRow(context, rows[i]!, AXIS + i * ROW - scroll, width);
    context.restore();
    if (hover) drawCursor(context, hover.x, tall);
  }

  function drawAxis(context: CanvasRenderingContext2D, width: number, tall: number): void {
    const [from, to] = look.range;
    const start = data.report.trace.from;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (const tick of ticks(from - start, to - start, (width - LABELS) / 110)) {
      const x = toX(tick + start, width);
      context.fillStyle = colour("line");
      context.fillRect(x, AXIS - 4, 1, tall);
      context.fillStyle = colour("muted");
      context.fillText(axisLabel(tick, to - from), x + 4, AXIS / 2);
    }
  }

  function drawRow(
    context: CanvasRenderingContext2D,
    { process, depth, events }: Row,
    y: number,
    width: number,
  ): void {
    const selected = look.process === process.id;
    const inset = Math.min(depth, 8) * 8;
    context.fillStyle = selected ? colour("accent") : colour("text");
    context.font = `${selected ? "600 " : ""}12px system-ui, sans-serif`;
    context.fillText(shorten(spellInvisible(process.name), 20 - Math.min(depth, 8)), 8 + inset, y + ROW / 2);
    context.fillStyle = colour("muted");
    context.font = "10px system-ui, sans-serif";
    context.textAlign = "right";
    context.fillText(String(process.pid), LABELS - 10, y + ROW / 2 + 1);
    context.textAlign = "left";
    const left = Math.max(LABELS, toX(process.started, width));
    const right = Math.min(width, toX(process.ended, width));
    if (right < LABELS || left > width) return;
    context.save();
    context.beginPath();
    context.rect(LABELS, y, width - LABELS, ROW);
    context.clip();
    context.fillStyle = colour("life");
    context.beginPath();
    context.roundRect(left, y + 3, Math.max(2, right - left), ROW - 6, 3);
    context.fill();
    drawEvents(context, events, y + 3, width);
    context.restore();
  }

  /** One mark per pixel: the most telling call in it. */
  function drawEvents(
    context: CanvasRenderingContext2D,
    events: Uint32Array,
    y: number,
    width: number,
  ): void {
    const { time, elapsed } = data.columns;
    const marks = new Uint8Array(Math.ceil(width) + 1);
    const [from, to] = look.range;
    for (let i = lowerBound(events, time, from - 1); i < events.length; i++) {
      const event = events[i]!;
      if (time[event]! > to) break;
      const category = categories[event]! + 1;
      const x = Math.max(LABELS, Math.floor(toX(time[event]!, width)));
      const end = Math.min(width, Math.floor(toX(time[event]! + elapsed[event]!, width)));
      for (let at = x; at <= end; at++) if (marks[at]! < category) marks[at] = category;
    }
    for (const [i, name] of CATEGORIES.entries()) {
      context.fillStyle = colour(name);
      for (let x = LABELS; x < width; x++) {
        if (marks[x] !== i + 1) continue;
        const begin = x;
        while (x + 1 < width && marks[x + 1] === i + 1) x++;
        const wide = name === "denied" ? Math.max(3, x - begin + 1) : x - begin + 1;
        context.fillRect(begin, y, wide, ROW - 6);
      }
    }
  }

  function drawCursor(context: CanvasRenderingContext2D, x: number, tall: number): void {
    if (x < LABELS) return;
    context.fillStyle = colour("accent");
    context.fillRect(x, 0, 1, tall);
  }

  function tell(event: MouseEvent): void {
    const row = rowAt(event.offsetY);
    if (!row || event.offsetY < AXIS) {
      hideTip();
      return;
    }
    const { process, events } = row;
    const near = nearest(data, events, toTime(event.offsetX));
    const slack = (3 * (look.range[1] - look.range[0])) / element.clientWidth;
    const { time, call, subject, elapsed } = data.columns;
    const shown =
      near !== undefined && event.offsetX > LABELS && Math.abs(time[near]! - toTime(event.offsetX)) < slack;
    showTip(
      event,
      `${process.name} (${process.pid})`,
      shorten(process.argv.join(" "), 90),
      `${formatDuration(process.ended - process.started)}, ${counted(process.calls, "call")}${process.denied > 0 ? `, ${process.denied} refused` : ""}`,
      ...(shown
        ? [
            `${data.events.calls[call[near]!]![0]} ${shorten(data.events.subjects[subject[near]!]!, 70)} (${formatDuration(elapsed[near]!)})`,
          ]
        : []),
    );
  }

  let drag:
    | { x: number; y: number; range: readonly [number, number]; scroll: number; moved: boolean }
    | undefined;
  element.addEventListener(
    "wheel",
    (event) => {
      if (event.offsetX < LABELS && !event.ctrlKey) {
        if (maxScroll() === 0) return;
        event.preventDefault();
        scroll = Math.min(Math.max(0, scroll + event.deltaY), maxScroll());
        return redraw();
      }
      event.preventDefault();
      const centre = toTime(event.offsetX);
      const factor = Math.exp(Math.min(Math.max(event.deltaY, -200), 200) / 250);
      look.zoom(centre - (centre - look.range[0]) * factor, centre + (look.range[1] - centre) * factor);
    },
    { passive: false },
  );
  element.addEventListener("pointerdown", (event) => {
    drag = { x: event.offsetX, y: event.offsetY, range: look.range, scroll, moved: false };
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    hover = { x: event.offsetX, y: event.offsetY };
    if (drag) {
      drag.moved ||= Math.abs(event.offsetX - drag.x) + Math.abs(event.offsetY - drag.y) > 4;
      const shift =
        ((drag.x - event.offsetX) / (element.clientWidth - LABELS)) * (drag.range[1] - drag.range[0]);
      if (drag.moved) look.zoom(drag.range[0] + shift, drag.range[1] + shift);
      scroll = Math.min(Math.max(0, drag.scroll + drag.y - event.offsetY), maxScroll());
    } else tell(event);
    redraw();
  });
  element.addEventListener("pointerup", (event) => {
    const row = drag && !drag.moved ? rowAt(event.offsetY) : undefined;
    drag = undefined;
    if (row) look.only(look.process === row.process.id ? undefined : row.process.id);
  });
  element.addEventListener("pointerleave", () => {
    hover = undefined;
    hideTip();
    redraw();
  });
  element.addEventListener("keydown", (event) => {
    const [from, to] = look.range;
    const step = (to - from) / 5;
    const moves: Record<string, () => void> = {
      ArrowLeft: () => look.zoom(from - step, to - step),
      ArrowRight: () => look.zoom(from + step, to + step),
      "+": () => look.zoom(from + step, to - step),
      "-": () => look.zoom(from - step, to + step),
      "0": () => look.zoom(...look.whole),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  });
  look.onChange(redraw);
  const reset = h("button", { type: "button" }, "Whole run");
  reset.addEventListener("click", () => look.zoom(...look.whole));
  const legend = h(
    "p",
    { class: "legend" },
    ...[...CATEGORIES].reverse().map((name) => h("span", { class: `key ${name}` }, name)),
    reset,
  );
  return section(
    "timeline",
    "Timeline",
    "Turn the wheel to zoom, drag to move, click a process to see its calls alone. Keys: + − 0 ← →",
    legend,
    element,
  );
}

function axisLabel(seconds: number, span: number): string {
  const digits = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(span))));
  return `${seconds.toFixed(digits)} s`;
}

/** Children follow their parents. */
function rowsOf({ report, columns, events }: Data): Row[] {
  const children = childrenOf(report.processes);
  const rows: Row[] = [];
  const stack = (children.get(undefined) ?? []).map((process) => ({ process, depth: 0 })).reverse();
  for (let next = stack.pop(); next; next = stack.pop()) {
    rows.push({ ...next, events: new Uint32Array() });
    for (const process of [...(children.get(next.process.id) ?? [])].reverse())
      stack.push({ process, depth: next.depth + 1 });
  }
  const sizes = new Map<number, number>();
  for (const id of columns.process) sizes.set(id, (sizes.get(id) ?? 0) + 1);
  const byId = new Map<number, { events: Uint32Array; at: number }>();
  for (const row of rows) {
    row.events = new Uint32Array(sizes.get(row.process.id) ?? 0);
    byId.set(row.process.id, { events: row.events, at: 0 });
  }
  for (let i = 0; i < events.count; i++) {
    const entry = byId.get(columns.process[i]!);
    if (entry) entry.events[entry.at++] = i;
  }
  for (const row of rows) row.events.sort((a, b) => columns.time[a]! - columns.time[b]!);
  return rows;
}

function categoriesOf({ events, columns }: Data): Uint8Array {
  const number = (name: string) => Math.max(0, CATEGORIES.indexOf(name as (typeof CATEGORIES)[number]));
  const byCall = events.calls.map(([, category]) => number(category));
  const refused = events.actions.map((action) => action === "deny" || action === "kill");
  const denied = number("denied");
  return Uint8Array.from(columns.call, (call, i) => (refused[columns.action[i]!] ? denied : byCall[call]!));
}

function lowerBound(events: Uint32Array, time: Float64Array, from: number): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time[events[middle]!]! < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

function nearest({ columns }: Data, events: Uint32Array, time: number): number | undefined {
  const after = lowerBound(events, columns.time, time);
  const candidates = [events[after - 1], events[after]].filter(
    (event): event is number => event !== undefined,
  );
  return candidates.sort((a, b) => Math.abs(columns.time[a]! - time) - Math.abs(columns.time[b]! - time))[0];
}
