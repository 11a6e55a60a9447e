import { counted } from "../../nouns/counted.js";
import { blockLines, EDGE_COLOURS } from "./dot.js";
import type { FlowGraph } from "./graph.js";
import { layered, type Point } from "./layout.js";
import { functionName } from "./syscalls.js";

const CHARACTER = 6.3;
const LINE = 14;
const PADDING = 8;
const TITLE = 28;

/** A picture that any browser shows: no script, nothing fetched. */
export function toSvg(graph: FlowGraph): string {
  const number = new Map(graph.blocks.map(({ address }, i) => [address, i]));
  const lines = graph.blocks.map(blockLines);
  const boxes = lines.map((text) => ({
    width: Math.max(...text.map((line) => line.length)) * CHARACTER + 2 * PADDING,
    height: text.length * LINE + 2 * PADDING,
  }));
  const edges = graph.blocks.flatMap(({ address, edges }) =>
    edges
      .filter(({ to }) => number.has(to))
      .map(({ to, kind }) => ({ kind, ends: [number.get(address)!, number.get(to)!] as const })),
  );
  const layout = layered(
    boxes,
    edges.map(({ ends }) => ends),
  );
  const roots = new Set(graph.roots);
  const title = `${functionName(graph.function)} · ${counted(graph.blocks.length, "block")}${graph.complete ? "" : " · some jumps go to unknown places"}`;
  const width = Math.ceil(Math.max(layout.width, title.length * 8 + 40));
  const height = Math.ceil(layout.height + TITLE);
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title>${escaped(title)}</title>`,
    "<style>text{font:10.5px monospace;fill:#1f2328;white-space:pre}rect{fill:#fff;stroke:#59636e}path{fill:none;stroke-width:1.3}.root{stroke-width:2.5}.name{font:bold 14px sans-serif}</style>",
    `<rect width="${width}" height="${height}" style="fill:#f6f8fa;stroke:none"/>`,
    "<defs>",
    ...Object.entries(EDGE_COLOURS).map(
      ([kind, colour]) =>
        `<marker id="${kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" style="fill:${colour}"/></marker>`,
    ),
    "</defs>",
    `<text class="name" x="24" y="22">${escaped(title)}</text>`,
    `<g transform="translate(0 ${TITLE})">`,
    ...layout.ways.map((way, i) => {
      const { kind } = edges[i]!;
      return `<path d="${curve(way)}" stroke="${EDGE_COLOURS[kind]}" marker-end="url(#${kind})"/>`;
    }),
    ...graph.blocks.map(({ address }, i) => {
      const { x, y } = layout.boxes[i]!;
      const { width: wide, height: high } = boxes[i]!;
      const text = lines[i]!.map(
        (line, k) =>
          `<text x="${round(x + PADDING)}" y="${round(y + PADDING + (k + 0.75) * LINE)}">${escaped(line)}</text>`,
      );
      const shape = roots.has(address) ? ' class="root"' : "";
      return `<rect x="${round(x)}" y="${round(y)}" width="${round(wide)}" height="${round(high)}" rx="4"${shape}/>${text.join("")}`;
    }),
    "</g>",
    "</svg>",
  ].join("\n")}\n`;
}

/** Through the points, upright at each. */
function curve(way: readonly Point[]): string {
  const [first, ...rest] = way;
  let text = `M${round(first!.x)} ${round(first!.y)}`;
  let before = first!;
  for (const point of rest) {
    const half = (point.y - before.y) / 2;
    text += `C${round(before.x)} ${round(before.y + half)} ${round(point.x)} ${round(point.y - half)} ${round(point.x)} ${round(point.y)}`;
    before = point;
  }
  return text;
}

const round = (value: number) => Math.round(value * 10) / 10;

/** XML allows no control characters, not even escaped; the lines are harmless already. */
function escaped(text: string): string {
  return text
    .replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
    .replace(/[\u0000-\u001f\ud800-\udfff\ufffe\uffff]/g, "?");
}
