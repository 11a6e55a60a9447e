import { counted } from "../../src/nouns/counted.js";
import type { Data } from "./data.js";
import { canvas, colour, h, hideTip, section, showTip } from "./dom.js";
import { count, formatBytes, shorten, spellInvisible } from "./format.js";
import type { Look } from "./look.js";

const HEIGHT = 420;
const HEADER = 16;

/** A folder or a file, with everything below it added up. */
interface Item {
  readonly name: string;
  readonly path: string;
  size: number;
  read: number;
  written: number;
  bytes: number;
  readonly children: Map<string, Item>;
}

interface Box {
  readonly item: Item;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly depth: number;
}

const MEASURES = {
  uses: (file: FileFacts) => file.reads + file.writes + file.deletes + file.execs,
  bytes: (file: FileFacts) => file.bytesRead + file.bytesWritten,
} as const;
type FileFacts = Data["report"]["files"]["list"][number];

/** Files by folder; area is how often they were used, or how much went through them. Click a folder to go into it. */
export function treemap(data: Data, look: Look): HTMLElement {
  let measure: keyof typeof MEASURES = "uses";
  let root = treeOf(data.report.files.list, MEASURES[measure]);
  let inside = root;
  let boxes: Box[] = [];
  const trail = h("nav", { class: "trail" });
  const { element, redraw } = canvas(HEIGHT, "treemap of files", (context, width, height) => {
    boxes = [];
    place(inside, 0, 0, width, height, 0, boxes);
    for (const box of boxes) paintBox(context, box);
  });
  const boxAt = (event: MouseEvent) =>
    boxes.findLast(
      (b) =>
        event.offsetX >= b.x &&
        event.offsetX < b.x + b.width &&
        event.offsetY >= b.y &&
        event.offsetY < b.y + b.height,
    );
  const enter = (item: Item) => {
    inside = item;
    trail.replaceChildren(
      ...pathTo(root, item).map((step) => {
        const link = h("button", { type: "button" }, step.name || "/");
        link.addEventListener("click", () => enter(step));
        return link;
      }),
    );
    redraw();
  };
  element.addEventListener("mousemove", (event) => {
    const item = boxAt(event)?.item;
    if (!item) return hideTip();
    const files = item.children.size > 0 ? `${counted(filesIn(item), "file")}, ` : "";
    showTip(
      event,
      item.path || "/",
      `${files}${counted(item.read, "read")}, ${counted(item.written, "change")}, ${formatBytes(item.bytes)}`,
    );
  });
  element.addEventListener("mouseleave", hideTip);
  element.addEventListener("click", (event) => {
    const item = boxAt(event)?.item;
    if (!item) return;
    hideTip();
    if (item.children.size > 0) enter(item);
    else look.search(item.path);
  });
  const choice = h(
    "p",
    { class: "legend" },
    h("span", { class: "key read" }, "read"),
    h("span", { class: "key write" }, "changed"),
  );
  for (const name of Object.keys(MEASURES) as (keyof typeof MEASURES)[]) {
    const button = h("button", { type: "button", "aria-pressed": String(name === measure) }, `by ${name}`);
    button.addEventListener("click", () => {
      measure = name;
      root = treeOf(data.report.files.list, MEASURES[measure]);
      for (const other of choice.querySelectorAll("button"))
        other.setAttribute("aria-pressed", String(other === button));
      enter(root);
    });
    choice.append(button);
  }
  enter(root);
  const { read, written, deleted, missed } = data.report.files;
  return section(
    "files",
    "Files",
    `${count(read)} read, ${count(written)} written, ${count(deleted)} deleted, ${count(missed)} looked for and not there.`,
    choice,
    trail,
    element,
  );
}

function paintBox(context: CanvasRenderingContext2D, { item, x, y, width, height, depth }: Box): void {
  const folder = item.children.size > 0;
  context.fillStyle = folder
    ? colour(depth % 2 === 0 ? "card" : "life")
    : colour(item.written > 0 ? "write" : "read");
  context.globalAlpha = folder ? 1 : item.written > 0 ? 0.85 : 0.7;
  context.fillRect(x + 0.5, y + 0.5, Math.max(0.5, width - 1), Math.max(0.5, height - 1));
  context.globalAlpha = 1;
  if (width < 34 || height < 13) return;
  context.save();
  context.beginPath();
  context.rect(x, y, width - 3, height);
  context.clip();
  context.fillStyle = folder ? colour("muted") : colour("on-mark");
  context.font = folder ? "600 11px system-ui, sans-serif" : "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.fillText(
    shorten(spellInvisible(item.name || "/"), Math.max(3, Math.floor(width / 6))),
    x + 5,
    y + 9,
  );
  context.restore();
}

/** Squarified: rows whose boxes are as close to squares as they get. */
function place(
  item: Item,
  x: number,
  y: number,
  width: number,
  height: number,
  depth: number,
  boxes: Box[],
): void {
  boxes.push({ item, x, y, width, height, depth });
  if (item.children.size === 0 || width < 8 || height < 8) return;
  let left = x + 2;
  let top = y + HEADER;
  let wide = width - 4;
  let tall = height - HEADER - 2;
  if (wide <= 2 || tall <= 2) return;
  let rest = [...item.children.values()].sort((a, b) => b.size - a.size);
  let total = rest.reduce((sum, child) => sum + child.size, 0);
  while (rest.length > 0 && total > 0 && wide > 1 && tall > 1) {
    const across = wide >= tall;
    const side = across ? tall : wide;
    const scale = (wide * tall) / total;
    const row = nextRow(rest, side, scale);
    const sum = row.reduce((all, child) => all + child.size, 0);
    const thick = (sum * scale) / side;
    let at = across ? top : left;
    for (const child of row) {
      const long = (child.size * scale) / thick;
      place(
        child,
        across ? left : at,
        across ? at : top,
        across ? thick : long,
        across ? long : thick,
        depth + 1,
        boxes,
      );
      at += long;
    }
    if (across) [left, wide] = [left + thick, wide - thick];
    else [top, tall] = [top + thick, tall - thick];
    rest = rest.slice(row.length);
    total -= sum;
  }
}

function nextRow(items: readonly Item[], side: number, scale: number): Item[] {
  const row: Item[] = [];
  let sum = 0;
  let worst = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const total = (sum + item.size) * scale;
    const sizes = [row[0] ?? item, item].map(({ size }) => size * scale);
    const ratio = Math.max(
      ...sizes.map((size) =>
        Math.max((side * side * size) / (total * total), (total * total) / (side * side * size)),
      ),
    );
    if (ratio > worst) break;
    worst = ratio;
    row.push(item);
    sum += item.size;
  }
  return row;
}

function treeOf(files: readonly FileFacts[], measure: (file: FileFacts) => number): Item {
  const empty = (name: string, path: string): Item => ({
    name,
    path,
    size: 0,
    read: 0,
    written: 0,
    bytes: 0,
    children: new Map(),
  });
  const root = empty("", "");
  for (const file of files) {
    const size = measure(file);
    if (size <= 0) continue;
    let item = root;
    const add = () => {
      item.size += size;
      item.read += file.reads;
      item.written += file.writes + file.deletes;
      item.bytes += file.bytesRead + file.bytesWritten;
    };
    add();
    for (const name of file.path.split("/").filter(Boolean)) {
      const next = item.children.get(name) ?? empty(name, `${item.path}/${name}`);
      item.children.set(name, next);
      item = next;
      add();
    }
  }
  return joined(root);
}

/** A folder with nothing but one folder in it is shown as one. */
function joined(item: Item): Item {
  const children = [...item.children.values()].map(joined);
  const [only] = children;
  if (children.length === 1 && only!.children.size > 0 && item.path !== "")
    return { ...only!, name: `${item.name}/${only!.name}` };
  return { ...item, children: new Map(children.map((child) => [child.name, child])) };
}

function pathTo(root: Item, target: Item): Item[] {
  const steps = [root];
  for (let item = root; item !== target; ) {
    const next: Item | undefined = [...item.children.values()].find(
      (child) => target.path === child.path || target.path.startsWith(`${child.path}/`),
    );
    if (!next) break;
    steps.push(next);
    item = next;
  }
  return steps;
}

function filesIn(item: Item): number {
  return item.children.size === 0
    ? 1
    : [...item.children.values()].reduce((sum, child) => sum + filesIn(child), 0);
}
