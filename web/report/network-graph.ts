import type { Data } from "./data.js";
import { h, hideTip, section, showTip, svg } from "./dom.js";
import { count, formatBytes, shorten } from "./format.js";
import type { Look } from "./look.js";

const ROW = 34;
const LEFT = 190;
const RIGHT = 270;
const WIDTH = 860;
const MAX_PEERS = 60;

type Peer = Data["report"]["network"]["peers"][number];

/** Programs on the left, peers on the right; the thicker a line, the more went over it. */
export function networkGraph(data: Data, look: Look): HTMLElement {
  const { peers, listening } = data.report.network;
  const shown = peers.slice(0, MAX_PEERS);
  const programs = [...new Set(shown.flatMap(({ by }) => by))];
  const rows = Math.max(programs.length, shown.length, 1);
  const height = rows * ROW + 10;
  const drawing = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${height}`,
    role: "img",
    "aria-label": "graph of network peers",
  });
  const spread = (i: number, of: number) => 5 + ((i + 0.5) * rows * ROW) / Math.max(1, of);
  const most = Math.max(1, ...shown.map((peer) => peer.bytesIn + peer.bytesOut));
  const place = new Map(programs.map((name, i) => [name, spread(i, programs.length)]));
  shown.forEach((peer, i) => {
    const y = spread(i, shown.length);
    const weight = 1.5 + (7 * Math.log1p(peer.bytesIn + peer.bytesOut)) / Math.log1p(most);
    for (const name of peer.by) {
      const from = place.get(name)!;
      const middle = (LEFT + WIDTH - RIGHT) / 2;
      const line = svg("path", {
        class: `flow ${kind(peer)}`,
        "stroke-width": weight,
        d: `M${LEFT},${from} C${middle},${from} ${middle},${y} ${WIDTH - RIGHT},${y}`,
      });
      line.addEventListener("mousemove", (event) => tell(event, peer));
      line.addEventListener("mouseleave", hideTip);
      drawing.append(line);
    }
    drawing.append(peerBox(peer, y, look));
  });
  for (const [name, y] of place) drawing.append(programBox(name, y));
  const quiet =
    peers.length === 0
      ? "No network peers."
      : "Outgoing in green, incoming in blue, failed in red. Click a peer to see its calls.";
  const listens = listening.map(({ address, by }) =>
    h("span", { class: "chip" }, `${by.join(", ")} listens at ${address}`),
  );
  const more =
    peers.length > shown.length
      ? h("p", { class: "note" }, `${count(peers.length - shown.length)} more peers are in the JSON report.`)
      : undefined;
  return section(
    "network",
    "Network",
    quiet,
    listens.length > 0 && h("p", {}, ...listens),
    peers.length > 0 && h("div", { class: "scroll" }, drawing as unknown as HTMLElement),
    more,
  );
}

function kind(peer: Peer): string {
  return peer.direction === "in" ? "in" : peer.failed === peer.contacts ? "failed" : "out";
}

function tell(event: MouseEvent, peer: Peer): void {
  showTip(
    event,
    peer.address,
    ...(peer.names.length > 0 ? [peer.names.join(", ")] : []),
    `${count(peer.contacts)} ${peer.contacts === 1 ? "contact" : "contacts"}, ${count(peer.failed)} failed`,
    `${formatBytes(peer.bytesOut)} out, ${formatBytes(peer.bytesIn)} in`,
  );
}

function peerBox(peer: Peer, y: number, look: Look): SVGElement {
  const title = peer.direction === "in" ? `${peer.address} → ${peer.local ?? ""}` : peer.address;
  const box = svg(
    "g",
    { class: `node peer ${kind(peer)}`, transform: `translate(${WIDTH - RIGHT},${y - 14})`, tabindex: "0" },
    svg("rect", { width: RIGHT - 6, height: 28, rx: 7 }),
    svg("text", { x: 10, y: 12 }, shorten(title, 38)),
    svg(
      "text",
      { class: "pid", x: 10, y: 23 },
      shorten(
        `${peer.names[0] ? `${peer.names[0]}  ` : ""}${formatBytes(peer.bytesOut)} out, ${formatBytes(peer.bytesIn)} in`,
        46,
      ),
    ),
  );
  box.addEventListener("mousemove", (event) => tell(event, peer));
  box.addEventListener("mouseleave", hideTip);
  box.addEventListener("click", () => look.search(peer.address));
  return box;
}

function programBox(name: string, y: number): SVGElement {
  return svg(
    "g",
    { class: "node", transform: `translate(6,${y - 14})` },
    svg("rect", { width: LEFT - 6, height: 28, rx: 7 }),
    svg("text", { x: 10, y: 18 }, shorten(name, 24)),
  );
}
