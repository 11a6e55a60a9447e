import { counted } from "../../nouns/text.js";
import { formatBytes, formatDuration, spellInvisible } from "../../offline/analyze/format.js";
import type { PatternFinding } from "../../offline/analyze/patterns/pattern.js";
import type { AnalysisReport } from "../../offline/analyze/report.js";
import { paint } from "./output.js";

type Paint = ReturnType<typeof paint>;
type ReportedProcess = AnalysisReport["processes"][number];

const SHOWN = 12;
const MAX_TREE = 60;
const COLOURS = { alert: "red", warning: "yellow", notice: "cyan" } as const;

/** The main facts of a trace, in a page or two. */
export function renderAnalysis(report: AnalysisReport, all: boolean): string {
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
            `${count(program.count)}  ${spellInvisible(program.exe)}  ${p("dim", spellInvisible(program.commands[0] ?? ""))}`,
        ),
        limit,
      ),
    ],
    [filesTitle(report), cut(report.files.folders.map(folder), limit)],
    [`Network (${counted(report.network.peers.length, "peer")})`, network(report, limit)],
    [
      `Secrets touched (${report.secrets.length})`,
      cut(
        report.secrets.map(
          (s) =>
            `${p(s.failed < s.count ? "red" : "yellow", spellInvisible(s.path))}  ${s.by.join(", ")} ×${s.count}${s.failed > 0 ? ` (${s.failed} refused or failed)` : ""}  ${p("dim", s.reason)}`,
        ),
        limit,
      ),
    ],
    [
      `Decisions (${counted(report.decisions.length, "kind")})`,
      cut(
        report.decisions.map(
          (d) =>
            `${count(d.count)}  ${p(d.action === "deny" || d.action === "kill" ? "red" : "yellow", d.action)} ${d.call}  ${[d.policy, d.rule].filter(Boolean).join("/")}${d.reason ? `: ${d.reason}` : ""}  ${p("dim", d.examples.map(spellInvisible).join(" "))}`,
        ),
        limit,
      ),
    ],
    [
      "Errors",
      cut(
        report.errors.map(
          (e) =>
            `${count(e.count)}  ${e.call} ${e.errno}  ${p("dim", e.examples.map(spellInvisible).join(" "))}`,
        ),
        limit,
      ),
    ],
    [
      "Slowest calls",
      cut(
        report.slowest.map(
          (s) =>
            `${formatDuration(s.seconds).padStart(9)}  ${s.call} ${spellInvisible(s.subject)}  ${p("dim", `pid ${s.pid}, at ${at(s.time, report)}`)}`,
        ),
        limit,
      ),
    ],
    [
      "Called from",
      cut(
        report.callers.map((c) => `${count(c.count)}  ${c.call.padEnd(18)} ${spellInvisible(c.caller)}`),
        limit,
      ),
    ],
    [
      "Calls",
      cut(
        report.calls.map(
          (c) =>
            `${count(c.count)}  ${c.name.padEnd(18)} ${formatDuration(c.seconds).padStart(9)}${c.waits ? " waiting" : ""}${c.errors > 0 ? `  ${c.errors} failed` : ""}`,
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

function functions(report: AnalysisReport, limit: number, p: Paint): readonly [string, readonly string[]] {
  const lines = report.functions.map((f) => {
    const [top] = f.callers;
    const ends = [
      ...(f.failed > 0 ? [`${f.failed} failed`] : []),
      ...(f.left > 0 ? [`${f.left} did not return`] : []),
    ];
    return `${count(f.count)}  ${spellInvisible(f.name).padEnd(28)} ${formatDuration(f.seconds).padStart(9)}, own ${formatDuration(f.own)}${ends.map((end) => `  ${end}`).join("")}${top ? `  ${p("dim", `by ${spellInvisible(top.caller)} ×${top.count}`)}` : ""}`;
  });
  return [`Functions (${report.functions.length})`, cut(lines, limit)];
}

function heading({ trace, time }: AnalysisReport, p: Paint): string {
  const end = trace.exitCode === undefined ? "" : `, exit ${trace.exitCode}`;
  const gaps = [
    ...(trace.complete ? [] : ["the trace is not complete"]),
    ...(trace.dropped > 0 ? [`${counted(trace.dropped, "record")} dropped`] : []),
  ];
  const share = (seconds: number) => `${time.lived > 0 ? Math.round((100 * seconds) / time.lived) : 0} %`;
  return [
    p("bold", spellInvisible(trace.command.join(" ") || trace.file)),
    `${trace.started}, ${formatDuration(trace.seconds)}${end}, ${counted(trace.events, "call")}${trace.functions > 0 ? `, ${counted(trace.functions, "function call")}` : ""}`,
    `time of all threads ${formatDuration(time.lived)}: ${share(time.own)} in user space, ${share(time.kernel)} in system calls, ${share(time.waiting)} waiting`,
    ...gaps.map((gap) => p("yellow", `! ${gap}`)),
    "",
  ].join("\n");
}

function finding(
  { severity, pattern, title, evidence }: PatternFinding,
  report: AnalysisReport,
  p: Paint,
): string[] {
  return [
    `${p(COLOURS[severity], severity.padEnd(8))}${spellInvisible(title)} ${p("dim", `[${pattern}]`)}`,
    ...evidence.map((e) =>
      p("dim", `          ${at(e.time, report)}  ${e.program} (${e.pid})  ${spellInvisible(e.text)}`),
    ),
  ];
}

/** The processes as a tree, each with when it lived and how it ended. */
function tree(report: AnalysisReport, limit: number, p: Paint): string[] {
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

function line(process: ReportedProcess, report: AnalysisReport, p: Paint): string {
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
    counted(calls, "call"),
    ...(threads > 1 ? [`${threads} threads`] : []),
    ...(denied > 0 ? [p("red", `${denied} denied`)] : []),
    ...(end === "" ? [] : [end]),
  ];
  const words = argv.slice(1).join(" ");
  return `${p("cyan", spellInvisible(name))} ${p("dim", `(${pid})`)} ${details.join(", ")}  ${p("dim", spellInvisible(words).slice(0, 80))}`;
}

function filesTitle({ files }: AnalysisReport): string {
  const { read, written, deleted, missed } = files;
  return `Files (${read} read: ${formatBytes(files.bytesRead)}, ${written} written: ${formatBytes(files.bytesWritten)}, ${deleted} deleted, ${missed} not found)`;
}

function folder({
  folder,
  files,
  read,
  written,
  deleted,
  bytesRead,
  bytesWritten,
}: AnalysisReport["files"]["folders"][number]): string {
  const parts = [
    ...(read > 0 ? [`${read} read${bytesRead > 0 ? ` (${formatBytes(bytesRead)})` : ""}`] : []),
    ...(written > 0
      ? [`${written} written${bytesWritten > 0 ? ` (${formatBytes(bytesWritten)})` : ""}`]
      : []),
    ...(deleted > 0 ? [`${deleted} deleted`] : []),
  ];
  return `${count(files)}  ${spellInvisible(folder)}  ${parts.join(", ")}`;
}

function network({ network }: AnalysisReport, limit: number): string[] {
  const peers = network.peers.map(
    ({ address, direction, local, names, contacts, failed, bytesOut, bytesIn, by }) => {
      const where =
        direction === "out"
          ? `→ ${spellInvisible(address)}`
          : `← ${spellInvisible(address)}${local ? ` at ${local}` : ""}`;
      const named = names.length > 0 ? ` (${names.map(spellInvisible).join(", ")})` : "";
      return `${where}${named}  ×${contacts}${failed > 0 ? `, ${failed} failed` : ""}  ${formatBytes(bytesOut)} out, ${formatBytes(bytesIn)} in  ${by.join(", ")}`;
    },
  );
  return [
    ...cut(peers, limit),
    ...network.listening.map(({ address, by }) => `listens at ${spellInvisible(address)}  ${by.join(", ")}`),
  ];
}

function cut(lines: readonly string[], limit: number): string[] {
  return lines.length <= limit
    ? [...lines]
    : [...lines.slice(0, limit), `… and ${lines.length - limit} more (--all, --json)`];
}

const count = (n: number) => n.toLocaleString("en").padStart(7);

function at(time: number, { trace }: AnalysisReport): string {
  return `${Math.max(0, time - trace.from).toFixed(3)} s`;
}
