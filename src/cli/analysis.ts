import { bytes, duration, visible } from "../analyze/format.js";
import type { Finding } from "../analyze/patterns/pattern.js";
import type { Report } from "../analyze/report.js";
import { paint } from "./output.js";

type Paint = ReturnType<typeof paint>;
type ReportedProcess = Report["processes"][number];

const SHOWN = 12;
const MAX_TREE = 60;
const COLOURS = { alert: "red", warning: "yellow", notice: "cyan" } as const;

/** What a person wants to know first of a trace, in a page or two. */
export function renderAnalysis(report: Report, all: boolean): string {
  const p = paint(1);
  const limit = all ? Number.POSITIVE_INFINITY : SHOWN;
  const sections: readonly (readonly [string, readonly string[]])[] = [
    [
      `Worth a look (${report.findings.length})`,
      report.findings.flatMap((f) => finding(f, report, p)).slice(0, limit * 4),
    ],
    [`Processes (${report.processes.length})`, tree(report, all ? Number.POSITIVE_INFINITY : MAX_TREE, p)],
    [
      `Programs (${report.programs.length})`,
      cut(
        report.programs.map(
          (program) =>
            `${count(program.count)}  ${visible(program.exe)}  ${p("dim", visible(program.commands[0] ?? ""))}`,
        ),
        limit,
      ),
    ],
    [filesTitle(report), cut(report.files.folders.map(folder), limit)],
    [`Network (${report.network.peers.length} peers)`, network(report, limit)],
    [
      `Secrets touched (${report.secrets.length})`,
      cut(
        report.secrets.map(
          (s) =>
            `${p(s.failed < s.count ? "red" : "yellow", visible(s.path))}  ${s.by.join(", ")} ×${s.count}${s.failed > 0 ? ` (${s.failed} refused or failed)` : ""}  ${p("dim", s.reason)}`,
        ),
        limit,
      ),
    ],
    [
      `Decisions (${report.decisions.length} kinds)`,
      cut(
        report.decisions.map(
          (d) =>
            `${count(d.count)}  ${p(d.action === "deny" || d.action === "kill" ? "red" : "yellow", d.action)} ${d.call}  ${[d.policy, d.rule].filter(Boolean).join("/")}${d.reason ? `: ${d.reason}` : ""}  ${p("dim", d.examples.map(visible).join(" "))}`,
        ),
        limit,
      ),
    ],
    [
      "Errors",
      cut(
        report.errors.map(
          (e) => `${count(e.count)}  ${e.call} ${e.errno}  ${p("dim", e.examples.map(visible).join(" "))}`,
        ),
        limit,
      ),
    ],
    [
      "Slowest calls",
      cut(
        report.slowest.map(
          (s) =>
            `${duration(s.seconds).padStart(9)}  ${s.call} ${visible(s.subject)}  ${p("dim", `pid ${s.pid}, at ${at(s.time, report)}`)}`,
        ),
        limit,
      ),
    ],
    [
      "Called from",
      cut(
        report.callers.map((c) => `${count(c.count)}  ${c.call.padEnd(18)} ${visible(c.caller)}`),
        limit,
      ),
    ],
    [
      "Calls",
      cut(
        report.calls.map(
          (c) =>
            `${count(c.count)}  ${c.name.padEnd(18)} ${duration(c.seconds).padStart(9)}${c.waits ? " waiting" : ""}${c.errors > 0 ? `  ${c.errors} failed` : ""}`,
        ),
        limit,
      ),
    ],
  ];
  const body = [...sections, functions(report, limit, p)]
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `${p("bold", title)}\n${lines.map((line) => `  ${line}\n`).join("")}`);
  return `${heading(report, p)}\n${body.join("\n")}`;
}

function functions(report: Report, limit: number, p: Paint): readonly [string, readonly string[]] {
  const lines = report.functions.map((f) => {
    const [top] = f.callers;
    const ends = [
      ...(f.failed > 0 ? [`${f.failed} failed`] : []),
      ...(f.left > 0 ? [`${f.left} did not return`] : []),
    ];
    return `${count(f.count)}  ${visible(f.name).padEnd(28)} ${duration(f.seconds).padStart(9)}, own ${duration(f.own)}${ends.map((end) => `  ${end}`).join("")}${top ? `  ${p("dim", `by ${visible(top.caller)} ×${top.count}`)}` : ""}`;
  });
  return [`Functions (${report.functions.length})`, cut(lines, limit)];
}

function heading({ trace, time }: Report, p: Paint): string {
  const end = trace.exitCode === undefined ? "" : `, exit ${trace.exitCode}`;
  const gaps = [
    ...(trace.complete ? [] : ["the trace is not complete"]),
    ...(trace.dropped > 0 ? [`${trace.dropped.toLocaleString("en")} records were dropped`] : []),
  ];
  const share = (seconds: number) => `${time.lived > 0 ? Math.round((100 * seconds) / time.lived) : 0} %`;
  return [
    p("bold", visible(trace.command.join(" ") || trace.file)),
    `${trace.started}, ${duration(trace.seconds)}${end}, ${trace.events.toLocaleString("en")} calls${trace.functions > 0 ? `, ${trace.functions.toLocaleString("en")} calls of functions` : ""}`,
    `of the processes' ${duration(time.lived)}: ${share(time.own)} own work, ${share(time.kernel)} in calls, ${share(time.waiting)} waiting`,
    ...gaps.map((gap) => p("yellow", `! ${gap}`)),
    "",
  ].join("\n");
}

function finding({ severity, pattern, title, evidence }: Finding, report: Report, p: Paint): string[] {
  return [
    `${p(COLOURS[severity], severity.padEnd(8))}${visible(title)} ${p("dim", `[${pattern}]`)}`,
    ...evidence.map((e) =>
      p("dim", `          ${at(e.time, report)}  ${e.program} (${e.pid})  ${visible(e.text)}`),
    ),
  ];
}

/** The processes as a tree, each with when it lived and how it ended. */
function tree(report: Report, limit: number, p: Paint): string[] {
  const children = new Map<number | undefined, ReportedProcess[]>();
  for (const process of report.processes) {
    const siblings = children.get(process.parent);
    if (siblings) siblings.push(process);
    else children.set(process.parent, [process]);
  }
  const lines: string[] = [];
  const draw = (process: ReportedProcess, prefix: string, branch: string, rest: string) => {
    if (lines.length < limit) lines.push(prefix + branch + line(process, report, p));
    const below = children.get(process.id) ?? [];
    below.forEach((child, i) => {
      const last = i === below.length - 1;
      draw(child, prefix + rest, last ? "└─ " : "├─ ", last ? "   " : "│  ");
    });
  };
  for (const root of children.get(undefined) ?? []) draw(root, "", "", "");
  if (report.processes.length > lines.length)
    lines.push(`… and ${report.processes.length - lines.length} more (--all)`);
  return lines;
}

function line(process: ReportedProcess, report: Report, p: Paint): string {
  const { name, pid, argv, started, ended, code, signal, threads, calls, denied, running } = process;
  const end = signal
    ? p("red", signal)
    : code !== undefined && code !== 0
      ? p("yellow", `exit ${code}`)
      : running
        ? "…"
        : "";
  const details = [
    `${at(started, report)} – ${at(ended, report)}`,
    `${calls.toLocaleString("en")} calls`,
    ...(threads > 1 ? [`${threads} threads`] : []),
    ...(denied > 0 ? [p("red", `${denied} denied`)] : []),
    ...(end === "" ? [] : [end]),
  ];
  const words = argv.slice(1).join(" ");
  return `${p("cyan", visible(name))} ${p("dim", `(${pid})`)} ${details.join(", ")}  ${p("dim", visible(words).slice(0, 80))}`;
}

function filesTitle({ files }: Report): string {
  const { read, written, deleted, missed } = files;
  return `Files (${read} read: ${bytes(files.bytesRead)}, ${written} written: ${bytes(files.bytesWritten)}, ${deleted} deleted, ${missed} not found)`;
}

function folder({
  folder,
  files,
  read,
  written,
  deleted,
  bytesRead,
  bytesWritten,
}: Report["files"]["folders"][number]): string {
  const parts = [
    ...(read > 0 ? [`${read} read${bytesRead > 0 ? ` (${bytes(bytesRead)})` : ""}`] : []),
    ...(written > 0 ? [`${written} written${bytesWritten > 0 ? ` (${bytes(bytesWritten)})` : ""}`] : []),
    ...(deleted > 0 ? [`${deleted} deleted`] : []),
  ];
  return `${count(files)}  ${visible(folder)}  ${parts.join(", ")}`;
}

function network({ network }: Report, limit: number): string[] {
  const peers = network.peers.map(
    ({ address, direction, local, names, contacts, failed, bytesOut, bytesIn, by }) => {
      const where =
        direction === "out" ? `→ ${visible(address)}` : `← ${visible(address)}${local ? ` at ${local}` : ""}`;
      const named = names.length > 0 ? ` (${names.map(visible).join(", ")})` : "";
      return `${where}${named}  ×${contacts}${failed > 0 ? `, ${failed} failed` : ""}  ${bytes(bytesOut)} out, ${bytes(bytesIn)} in  ${by.join(", ")}`;
    },
  );
  return [
    ...cut(peers, limit),
    ...network.listening.map(({ address, by }) => `listens at ${visible(address)}  ${by.join(", ")}`),
  ];
}

function cut(lines: readonly string[], limit: number): string[] {
  return lines.length <= limit
    ? [...lines]
    : [...lines.slice(0, limit), `… and ${lines.length - limit} more (--all, --json)`];
}

const count = (n: number) => n.toLocaleString("en").padStart(7);

function at(time: number, { trace }: Report): string {
  return `${Math.max(0, time - trace.from).toFixed(3)} s`;
}
