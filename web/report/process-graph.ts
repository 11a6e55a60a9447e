import { counted } from "../../src/nouns/counted.js";
import { childrenOf, type Data, type ReportedProcess } from "./data.js";
import { h, hideTip, section, showTip, svg } from "./dom.js";
import { count, formatDuration, shorten } from "./format.js";
import type { Look } from "./look.js";

const ROW = 30;
const COLUMN = 190;
const WIDTH = 160;
const MAX_NODES = 250;

interface Node {
  readonly process: ReportedProcess;
  readonly x: number;
  readonly y: number;
  readonly parent: Node | undefined;
}

/** Who started whom, from left to right. */
export function processGraph(data: Data, look: Look): HTMLElement {
  const { nodes, left } = layout(data.report.processes);
  const width = 20 + COLUMN * (1 + Math.max(0, ...nodes.map(({ x }) => x)));
  const height = 16 + ROW * (1 + Math.max(0, ...nodes.map(({ y }) => y)));
  const most = Math.max(1, ...nodes.map(({ process }) => process.calls));
  const drawing = svg("svg", { width, height, role: "img", "aria-label": "graph of processes" });
  const place = ({ x, y }: Node) => [10 + x * COLUMN, 8 + y * ROW] as const;
  for (const node of nodes) {
    if (!node.parent) continue;
    const [x, y] = place(node);
    const [px, py] = place(node.parent);
    const middle = px + WIDTH + (x - px - WIDTH) / 2;
    drawing.append(
      svg("path", {
        class: "edge",
        d: `M${px + WIDTH},${py + 11} C${middle},${py + 11} ${middle},${y + 11} ${x},${y + 11}`,
      }),
    );
  }
  for (const node of nodes) {
    const { process } = node;
    const [x, y] = place(node);
    const failed = process.signal !== undefined || (process.code ?? 0) !== 0;
    const box = svg(
      "g",
      {
        class: `node ${process.denied > 0 ? "denied" : failed ? "failed" : ""}`,
        transform: `translate(${x},${y})`,
        tabindex: "0",
      },
      svg("rect", { width: WIDTH, height: 22, rx: 6 }),
      svg("rect", {
        class: "load",
        width: Math.max(3, (WIDTH * Math.log1p(process.calls)) / Math.log1p(most)),
        height: 3,
        y: 19,
        rx: 1.5,
      }),
      svg("text", { x: 9, y: 14 }, shorten(process.name, 15)),
      svg("text", { class: "pid", x: WIDTH - 8, y: 14, "text-anchor": "end" }, String(process.pid)),
    );
    box.addEventListener("mousemove", (event) =>
      showTip(
        event,
        `${process.name} (${process.pid})`,
        shorten(process.argv.join(" "), 120),
        `${formatDuration(process.ended - process.started)}, ${counted(process.calls, "call")}, ${count(process.errors)} failed, ${count(process.denied)} refused`,
        process.signal ?? (process.code === undefined ? "" : `exit ${process.code}`),
      ),
    );
    box.addEventListener("mouseleave", hideTip);
    box.addEventListener("click", () => {
      look.only(process.id);
      document.getElementById("events")?.scrollIntoView({ behavior: "smooth" });
    });
    drawing.append(box);
  }
  const note = `The bar shows how many calls; red was refused something, yellow failed.${left > 0 ? ` ${count(left)} more are in the timeline.` : ""}`;
  return section(
    "processes",
    "Processes",
    note,
    h("div", { class: "scroll" }, drawing as unknown as HTMLElement),
  );
}

function layout(processes: readonly ReportedProcess[]): { nodes: Node[]; left: number } {
  const children = childrenOf(processes);
  const nodes: Node[] = [];
  let y = 0;
  const put = (process: ReportedProcess, x: number, parent: Node | undefined): void => {
    if (nodes.length >= MAX_NODES) return;
    const node: Node = { process, x, y, parent };
    nodes.push(node);
    const below = children.get(process.id) ?? [];
    below.forEach((child, i) => {
      if (i > 0) y++;
      put(child, x + 1, node);
    });
  };
  (children.get(undefined) ?? []).forEach((root, i) => {
    if (i > 0) y++;
    put(root, 0, undefined);
  });
  return { nodes, left: processes.length - nodes.length };
}
