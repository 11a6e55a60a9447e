const WIDTH = 880;
const LABEL = 190;
const BAR = 13;
const GAP = 3;
const GROUP_GAP = 16;
const TOP = 64;
const RIGHT = 150;
/** Longer bars are cut and marked: a bar of 40× must not hide a difference of 1.1×. */
const MOST = 8;

/** Workloads as groups of bars, one bar per system: the time as a multiple of bare. One SVG, for light and dark. */
export function chart(results) {
  const groups = groupsOf(results);
  const longest = Math.min(
    MOST,
    Math.max(1.5, ...groups.flatMap(({ bars }) => bars.map(({ ratio }) => ratio))),
  );
  const unit = (WIDTH - LABEL - RIGHT) / longest;
  let y = TOP;
  const drawn = groups.map((group) => {
    const text = drawGroup(group, y, unit, longest);
    y += group.bars.length * (BAR + GAP) + GROUP_GAP;
    return text;
  });
  const height = y + 20;
  const { date, machine, command } = results;
  const about = `${date.slice(0, 10)}, ${machine.cpus} × ${machine.cpu}, Linux ${machine.kernel}, ${command}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="Real programs under HERMES and its peers, times bare">
<style>${STYLE}</style>
<rect class="paper" width="${WIDTH}" height="${height}"/>
<text class="title" x="16" y="26">Real programs: time, as a multiple of the bare run (shorter is better)</text>
<text class="small" x="16" y="46">${escaped(about)}</text>
${scale(unit, longest, height)}
${drawn.join("\n")}
</svg>
`;
}

/** A label beside each bar names the system; HERMES also has its own colour. */
const STYLE = `
.paper{fill:#ffffff}text{font:12px system-ui,sans-serif;fill:#1f2328}.title{font-size:15px;font-weight:600}.small{font-size:11px;fill:#59636e;paint-order:stroke;stroke:#ffffff;stroke-width:3px}
.bar{fill:#a8b3bf}.ours{fill:#1f6feb}.audit{fill:#79aef5}.line{stroke:#d1d9e0}.one{stroke:#1f2328;stroke-dasharray:3 3}.group{font-weight:600}
@media (prefers-color-scheme:dark){.paper{fill:#0d1117}text{fill:#e6edf3}.small{fill:#9198a1;stroke:#0d1117}.bar{fill:#59636e}.ours{fill:#4493f8}.audit{fill:#2a5a9e}.line{stroke:#30363d}.one{stroke:#e6edf3}}
`.trim();

/** The bars of a workload, without bare itself. */
function groupsOf({ scenarios }) {
  return (scenarios.workloads?.tables ?? []).map(({ work, rows }) => ({
    name: work,
    bars: Object.entries(rows)
      .filter(([name]) => name !== "bare")
      .map(([name, { ratio }]) => ({ name, ratio: ratio.median, low: ratio.low, high: ratio.high })),
  }));
}

function scale(unit, longest, height) {
  const lines = [];
  for (let value = 0; value <= longest; value++) {
    const x = LABEL + value * unit;
    lines.push(
      `<line class="${value === 1 ? "one" : "line"}" x1="${x}" x2="${x}" y1="${TOP - 6}" y2="${height - 22}"/>`,
      `<text class="small" x="${x}" y="${height - 8}" text-anchor="middle">${value}×</text>`,
    );
  }
  return lines.join("\n");
}

function drawGroup({ name, bars }, top, unit, longest) {
  const lines = [`<text class="group" x="16" y="${top + BAR - 2}">${escaped(name)}</text>`];
  for (const [i, bar] of bars.entries()) {
    const y = top + i * (BAR + GAP);
    const cut = bar.ratio > longest;
    const width = Math.max(1, Math.min(bar.ratio, longest) * unit);
    const kind = { "HERMES enforce": "ours", "HERMES audit": "audit" }[bar.name] ?? "bar";
    lines.push(
      `<text class="small" x="${LABEL - 8}" y="${y + BAR - 3}" text-anchor="end">${escaped(bar.name)}</text>`,
      `<rect class="${kind}" x="${LABEL}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" rx="2"><title>${escaped(`${name}, ${bar.name}: ${bar.ratio.toFixed(2)}×, middle half ${bar.low.toFixed(2)} to ${bar.high.toFixed(2)}`)}</title></rect>`,
      `<text class="small" x="${(LABEL + width + 6).toFixed(1)}" y="${y + BAR - 3}">${cut ? "→ " : ""}${bar.ratio.toFixed(2)}×</text>`,
    );
  }
  return lines.join("\n");
}

function escaped(text) {
  return String(text).replace(
    /[&<>"]/g,
    (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c],
  );
}
