/** A drawing of a graph in layers: edges run down, except those that close a cycle. */
interface Box {
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

interface Layout {
  readonly width: number;
  readonly height: number;
  /** The upper left corner of each box. */
  readonly boxes: readonly Point[];
  /** Each edge's way, from its beginning to its end. */
  readonly ways: readonly (readonly Point[])[];
}

const BESIDE = 24;
const BELOW = 48;
const SWEEPS = 8;
/** Ways back begin and end beside the others. */
const ASIDE = 12;
/** Beyond so many bends edges go straight: a drawing of that size is looked at from far away. */
const MOST_BENDS = 40_000;

interface Node {
  readonly width: number;
  readonly height: number;
  layer: number;
  x: number;
  order: number;
  readonly up: Node[];
  readonly down: Node[];
}

/** Lays out boxes and edges between them ([from, to], by number); the first box is on top. */
export function layered(boxes: readonly Box[], edges: readonly (readonly [number, number])[]): Layout {
  const nodes = boxes.map((box): Node => ({ ...box, layer: 0, x: 0, order: 0, up: [], down: [] }));
  const backward = backwardEdges(boxes.length, edges);
  const down = edges.map(([from, to], i) =>
    backward.has(i) ? ([to, from] as const) : ([from, to] as const),
  );
  rank(nodes, down);
  const chains = chain(nodes, down);
  const layers = ordered([...nodes, ...chains.flat()]);
  place(layers);
  const tops = heights(layers);
  const middle = (node: Node) => node.x + node.width / 2;
  const ways = edges.map(([from, to], i) => {
    const [first, last] = backward.has(i) ? [nodes[to]!, nodes[from]!] : [nodes[from]!, nodes[to]!];
    const bends = chains[i]!.map((bend) => ({ x: middle(bend), y: tops[bend.layer]! + bend.height / 2 }));
    const aside = backward.has(i) ? ASIDE : 0;
    if (from === to) return loop(first, tops[first.layer]!);
    const way = [
      { x: middle(first) + aside, y: tops[first.layer]! + first.height },
      ...bends,
      { x: middle(last) + aside, y: tops[last.layer]! },
    ];
    return backward.has(i) ? way.reverse() : way;
  });
  return {
    width: largest(layers.flat(), ({ x, width }) => x + width) + BESIDE,
    height: (tops.at(-1) ?? 0) + BESIDE,
    boxes: nodes.map((node) => ({ x: node.x, y: tops[node.layer]! })),
    ways,
  };
}

/** A block that jumps to itself. */
function loop({ x, width, height }: Node, top: number): Point[] {
  const right = x + width + 14;
  return [
    { x: x + width * 0.75, y: top + height },
    { x: right, y: top + height + 14 },
    { x: right, y: top - 14 },
    { x: x + width * 0.75, y: top },
  ];
}

/** Edges to a box that is still open in a walk from the first one: turned around, there is no cycle left. */
function backwardEdges(count: number, edges: readonly (readonly [number, number])[]): Set<number> {
  const out = Array.from({ length: count }, (): number[] => []);
  edges.forEach(([from], i) => {
    out[from]!.push(i);
  });
  const state = new Uint8Array(count);
  const backward = new Set<number>();
  for (let root = 0; root < count; root++) {
    if (state[root] !== 0) continue;
    state[root] = 1;
    const open = [{ node: root, next: 0 }];
    while (open.length > 0) {
      const top = open.at(-1)!;
      const edge = out[top.node]![top.next++];
      if (edge === undefined) {
        state[top.node] = 2;
        open.pop();
        continue;
      }
      const to = edges[edge]![1];
      if (state[to] === 1) backward.add(edge);
      if (state[to] !== 0) continue;
      state[to] = 1;
      open.push({ node: to, next: 0 });
    }
  }
  return backward;
}

/** Each box as far down as the longest way to it. */
function rank(nodes: readonly Node[], edges: readonly (readonly [number, number])[]): void {
  const waiting = new Uint32Array(nodes.length);
  const out = nodes.map((): number[] => []);
  for (const [from, to] of edges) {
    if (from === to) continue;
    waiting[to]!++;
    out[from]!.push(to);
  }
  const open = [...waiting.keys()].filter((i) => waiting[i] === 0);
  for (let i = open.shift(); i !== undefined; i = open.shift())
    for (const to of out[i]!) {
      nodes[to]!.layer = Math.max(nodes[to]!.layer, nodes[i]!.layer + 1);
      if (--waiting[to]! === 0) open.push(to);
    }
}

/** Edges over several layers bend in each of them. */
function chain(nodes: readonly Node[], edges: readonly (readonly [number, number])[]): Node[][] {
  let left = MOST_BENDS;
  return edges.map(([from, to]) => {
    const [first, last] = [nodes[from]!, nodes[to]!];
    const bends: Node[] = [];
    let above = first;
    for (let layer = first.layer + 1; layer < last.layer && left > 0; layer++, left--) {
      const bend: Node = { width: 1, height: 1, layer, x: 0, order: 0, up: [above], down: [] };
      above.down.push(bend);
      bends.push(bend);
      above = bend;
    }
    if (from !== to) {
      above.down.push(last);
      last.up.push(above);
    }
    return bends;
  });
}

/** Within layers, each near the middle of those it is joined to: swept down and up, crossings become few. */
function ordered(all: readonly Node[]): Node[][] {
  const layers: Node[][] = [];
  for (const node of all) {
    layers[node.layer] ??= [];
    layers[node.layer]!.push(node);
  }
  const filled = Array.from(layers, (layer) => layer ?? []);
  const number = (layer: Node[]) =>
    layer.forEach((node, i) => {
      node.order = i;
    });
  filled.forEach(number);
  const mean = (near: readonly Node[], own: number) =>
    near.length === 0 ? own : near.reduce((sum, { order }) => sum + order, 0) / near.length;
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isDown = sweep % 2 === 0;
    for (const layer of isDown ? filled : [...filled].reverse()) {
      const keys = new Map(layer.map((node) => [node, mean(isDown ? node.up : node.down, node.order)]));
      layer.sort((a, b) => keys.get(a)! - keys.get(b)!);
      number(layer);
    }
  }
  return filled;
}

/** Side by side, then moved towards those they are joined to as far as there is room. */
function place(layers: readonly Node[][]): void {
  for (const layer of layers) {
    let x = BESIDE;
    for (const node of layer) {
      node.x = x;
      x += node.width + BESIDE;
    }
  }
  const middle = ({ x, width }: Node) => x + width / 2;
  for (let sweep = 0; sweep < SWEEPS; sweep++)
    for (const layer of sweep % 2 === 0 ? layers : [...layers].reverse()) {
      for (let i = layer.length - 1; i >= 0; i--) {
        const node = layer[i]!;
        const near = sweep % 2 === 0 ? node.up : node.down;
        if (near.length === 0) continue;
        const subscriber = near.reduce((sum, other) => sum + middle(other), 0) / near.length - node.width / 2;
        const after = layer[i + 1];
        const most = after === undefined ? Infinity : after.x - BESIDE - node.width;
        const before = layer[i - 1];
        const least = before === undefined ? BESIDE : before.x + before.width + BESIDE;
        node.x = Math.max(least, Math.min(most, subscriber));
      }
    }
}

/** Where each layer begins; the last number is the end. */
function heights(layers: readonly Node[][]): number[] {
  const tops = [BESIDE];
  for (const layer of layers) tops.push(tops.at(-1)! + largest(layer, ({ height }) => height) + BELOW);
  return tops;
}

const largest = (nodes: readonly Node[], of: (node: Node) => number) =>
  nodes.reduce((most, node) => Math.max(most, of(node)), 1);
