import { type Data, loadData } from "./data.js";
import { h } from "./dom.js";
import { latency } from "./latency.js";
import { Look } from "./look.js";
import { networkGraph } from "./network-graph.js";
import { findings, heading, lists, tiles } from "./overview.js";
import { processGraph } from "./process-graph.js";
import { eventTable } from "./table.js";
import { themeButton } from "./theme.js";
import { timeline } from "./timeline.js";
import { treemap } from "./treemap.js";

function page(data: Data): void {
  const { from, seconds, command, file } = data.report.trace;
  document.title = `${command.join(" ") || file} – HERMES`;
  const look = new Look(from, from + seconds);
  const sections = [
    findings(data, look),
    timeline(data, look),
    h(
      "div",
      { class: "pair" },
      treemap(data, look),
      h("div", { class: "stack" }, networkGraph(data, look), latency(data)),
    ),
    processGraph(data, look),
    lists(data, look),
    eventTable(data, look),
  ];
  const links = ["findings", "timeline", "files", "network", "processes", "latency", "details", "events"].map(
    (id) => h("a", { href: `#${id}` }, id),
  );
  document.body.append(
    h("nav", { class: "bar" }, h("strong", {}, "HERMES"), ...links, themeButton()),
    h("main", {}, heading(data), tiles(data), ...sections),
  );
}

loadData().then(page, (error) =>
  document.body.append(h("p", { class: "broken" }, `This report cannot be read: ${error}`)),
);
