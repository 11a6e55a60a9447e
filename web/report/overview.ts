import { counted } from "../../src/nouns/counted.js";
import type { Data } from "./data.js";
import { h, section } from "./dom.js";
import { count, formatBytes, formatDuration } from "./format.js";
import type { Look } from "./look.js";

/** What the run was, and what in it is worth a look. */
export function heading({ report }: Data): HTMLElement {
  const { trace } = report;
  const facts = [
    new Date(trace.from * 1000).toLocaleString(),
    formatDuration(trace.seconds),
    ...(trace.exitCode === undefined ? [] : [`exit ${trace.exitCode}`]),
    ...trace.policies.map(({ name }) => `policy ${name}`),
    ...(trace.complete ? [] : ["the trace is not complete"]),
  ];
  return h(
    "div",
    { class: "title" },
    h("h1", {}, trace.command.join(" ") || trace.file),
    h("p", { class: "facts" }, ...facts.map((fact) => h("span", {}, fact))),
  );
}

export function tiles({ report }: Data): HTMLElement {
  const { trace, files, network, processes, secrets, decisions, time } = report;
  const denied = decisions
    .filter(({ action }) => action === "deny" || action === "kill")
    .reduce((sum, d) => sum + d.count, 0);
  const out = network.peers.reduce((sum, peer) => sum + peer.bytesOut, 0);
  const into = network.peers.reduce((sum, peer) => sum + peer.bytesIn, 0);
  const share = (seconds: number) => (time.lived > 0 ? (100 * seconds) / time.lived : 0);
  const many = (n: number, noun: string, several?: string) => {
    const [number, ...words] = counted(n, noun, several).split(" ");
    return [number!, words.join(" ")] as const;
  };
  const tile = (value: string, label: string, detail: string, kind = "") =>
    h("div", { class: `tile ${kind}` }, h("b", {}, value), h("span", {}, label), h("small", {}, detail));
  const bar = h("div", { class: "split", role: "img", "aria-label": "where the time went" });
  const parts = [
    ["own", "own work", time.own],
    ["kernel", "in calls", time.kernel],
    ["waiting", "waiting", time.waiting],
  ] as const;
  for (const [name, , seconds] of parts) {
    const piece = h("i", { class: name });
    piece.style.width = `${share(seconds)}%`;
    bar.append(piece);
  }
  const legend = h(
    "small",
    {},
    ...parts.map(([name, label, seconds]) =>
      h("span", { class: `key ${name}` }, `${label} ${Math.round(share(seconds))} %`),
    ),
  );
  return h(
    "div",
    { class: "tiles" },
    tile(...many(trace.events, "call"), counted(report.calls.length, "kind")),
    tile(...many(processes.length, "process", "processes"), counted(report.programs.length, "program")),
    tile(
      ...many(files.read + files.written, "file"),
      `${formatBytes(files.bytesRead)} read, ${formatBytes(files.bytesWritten)} written`,
    ),
    tile(...many(network.peers.length, "peer"), `${formatBytes(out)} out, ${formatBytes(into)} in`),
    tile(
      ...many(secrets.length, "secret touched", "secrets touched"),
      secrets[0]?.path.split("/").at(-1) ?? "none",
      secrets.length > 0 ? "bad" : "",
    ),
    tile(
      count(denied),
      "refused",
      `${counted(decisions.length, "kind")} of decisions`,
      denied > 0 ? "bad" : "",
    ),
    h(
      "div",
      { class: "tile wide" },
      h("b", {}, formatDuration(time.lived)),
      h("span", {}, "time of all threads"),
      bar,
      legend,
    ),
  );
}

export function findings({ report }: Data, look: Look): HTMLElement {
  const { findings: found, trace } = report;
  const note =
    found.length === 0
      ? "No pattern was found that people with bad intent leave."
      : "Patterns, not proofs: each with the calls that it was made of. Click one to see its surroundings.";
  const list = found.map(({ severity, pattern, title, evidence }) => {
    const item = h(
      "details",
      { class: `finding ${severity}` },
      h("summary", {}, h("em", {}, severity), h("span", { class: "what" }, title), h("code", {}, pattern)),
      h(
        "ol",
        {},
        ...evidence.map((e) => {
          const line = h(
            "li",
            {},
            h("time", {}, `${(e.time - trace.from).toFixed(3)} s`),
            h("b", { class: "who" }, `${e.program} (${e.pid})`),
            h("span", {}, e.text),
          );
          line.addEventListener("click", () => look.around(e.time));
          return line;
        }),
      ),
    );
    return item;
  });
  return section("findings", "Worth a look", note, ...list);
}

export function lists({ report }: Data, look: Look): HTMLElement {
  const row = (cells: readonly string[], filter: string) => {
    const line = h("tr", { tabindex: "0" }, ...cells.map((cell) => h("td", {}, cell)));
    line.addEventListener("click", () => look.search(filter));
    return line;
  };
  const table = (title: string, rows: readonly HTMLElement[]) =>
    rows.length > 0 &&
    h("div", { class: "list" }, h("h3", {}, title), h("table", {}, h("tbody", {}, ...rows.slice(0, 40))));
  return section(
    "details",
    "Details",
    "Click a line to see its calls.",
    table(
      "Secrets",
      report.secrets.map((s) =>
        row(
          [s.path, `×${s.count}`, s.failed > 0 ? `${s.failed} refused or failed` : "", s.by.join(", ")],
          s.path,
        ),
      ),
    ),
    table(
      "Decisions",
      report.decisions.map((d) =>
        row(
          [
            d.action,
            d.call,
            `×${count(d.count)}`,
            [d.policy, d.rule].filter(Boolean).join("/"),
            d.reason || d.examples.join(" "),
          ],
          d.examples[0] ?? d.call,
        ),
      ),
    ),
    table(
      "Programs",
      report.programs.map((p) => row([p.exe, `×${p.count}`, p.commands[0] ?? ""], p.exe)),
    ),
    table(
      "Errors",
      report.errors.map((e) =>
        row([e.call, e.errno, `×${count(e.count)}`, e.examples.join(" ")], `${e.call} ${e.errno}`),
      ),
    ),
    table(
      "Slowest calls",
      report.slowest.map((s) =>
        row([formatDuration(s.seconds), s.call, s.subject, `pid ${s.pid}`], `${s.call} ${s.subject}`),
      ),
    ),
  );
}
