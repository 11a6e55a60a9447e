import { counted } from "../../src/nouns/counted.js";
import type { Data } from "./data.js";
import { canvas, colour, h, hideTip, section, showTip } from "./dom.js";
import { count, formatDuration } from "./format.js";

const HEIGHT = 230;
const PAD = { left: 56, bottom: 26, top: 10 };

/** How long calls take, for all or for one kind. Both scales are logarithmic. */
export function latency({ report }: Data): HTMLElement {
  const { bounds, all, byCall } = report.latency;
  let buckets: readonly number[] = all;
  const range = () => {
    const used = all.flatMap((n, i) => (n > 0 ? [i] : []));
    return [used[0] ?? 0, (used.at(-1) ?? bounds.length - 1) + 1] as const;
  };
  const { element, redraw } = canvas(HEIGHT, "histogram of latencies", (context, width, height) => {
    const [first, last] = range();
    const step = (width - PAD.left) / Math.max(1, last - first);
    const tall = height - PAD.bottom - PAD.top;
    const most = Math.log10(1 + Math.max(1, ...all));
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (let power = 0; power <= Math.floor(most); power++) {
      const y = PAD.top + tall * (1 - Math.log10(1 + 10 ** power) / most);
      context.fillStyle = colour("line");
      context.fillRect(PAD.left, y, width, 1);
      context.fillStyle = colour("muted");
      context.textAlign = "right";
      context.fillText(count(10 ** power), PAD.left - 8, y);
    }
    context.textAlign = "center";
    for (let i = first; i < last; i++) {
      const x = PAD.left + (i - first) * step;
      const high = (tall * Math.log10(1 + buckets[i]!)) / most;
      context.fillStyle = colour("accent");
      context.beginPath();
      context.roundRect(x + 2, PAD.top + tall - high, Math.max(1, step - 4), high, [4, 4, 0, 0]);
      context.fill();
      context.fillStyle = colour("muted");
      if (step > 46 || i % 2 === 0)
        context.fillText(formatDuration(bounds[i]!), x + step / 2, height - PAD.bottom / 2);
    }
    context.textAlign = "left";
  });
  element.addEventListener("mousemove", (event) => {
    const [first, last] = range();
    const i =
      first + Math.floor(((event.offsetX - PAD.left) / (element.clientWidth - PAD.left)) * (last - first));
    if (i < first || i >= last) return hideTip();
    showTip(
      event,
      counted(buckets[i]!, "call"),
      i === 0
        ? `up to ${formatDuration(bounds[0]!)}`
        : `${formatDuration(bounds[i - 1]!)} to ${formatDuration(bounds[i]!)}`,
    );
  });
  element.addEventListener("mouseleave", hideTip);
  const select = h(
    "select",
    { "aria-label": "which calls" },
    h("option", { value: "" }, "all calls"),
    ...Object.keys(byCall).map((name) => h("option", { value: name }, name)),
  ) as HTMLSelectElement;
  select.addEventListener("change", () => {
    buckets = byCall[select.value] ?? all;
    redraw();
  });
  return section(
    "latency",
    "Latency",
    "How long calls take, supervision included and waiting left out.",
    h("p", { class: "legend" }, select),
    element,
  );
}
