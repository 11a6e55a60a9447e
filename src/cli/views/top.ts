import { counted } from "../../nouns/counted.js";
import type { Use } from "../../record/trace/activity.js";
import type { TopSession } from "../commands/top.js";
import { paint } from "./output.js";

/** Maximum number of lines of each kind per session. */
const SHOWN = { processes: 8, files: 8, peers: 5, denials: 5 };

/** The display of `hermes top`, as lines that fit the terminal. */
export function renderTop(sessions: readonly TopSession[], columns: number, rows: number): string[] {
  const p = paint(1);
  const time = new Date().toTimeString().slice(0, 8);
  const count = sessions.length === 1 ? "1 session" : `${sessions.length || "no"} sessions`;
  const lines = [p("bold", cut(`hermes top  ${time}  ${count}`, columns))];
  for (const session of sessions) lines.push("", ...sessionLines(session, columns));
  return lines.slice(0, rows);
}

function sessionLines(session: TopSession, columns: number): string[] {
  const p = paint(1);
  const { summary, activity, tree } = session;
  const within = (text: string) => cut(text, columns);
  const total = activity.processes.reduce(
    (sum, use) => ({ read: sum.read + use.read, written: sum.written + use.written }),
    { read: 0, written: 0 },
  );
  const refused = (summary.byAction.deny ?? 0) + (summary.byAction.kill ?? 0);
  const facts = [
    `${age(session.time - session.started)}`,
    `${tree.length} process${tree.length === 1 ? "" : "es"}`,
    `${number(session.callsPerSecond)} calls/s`,
    `${number(summary.calls)} in total`,
    `${bytes(total.read)} read`,
    `${bytes(total.written)} written`,
  ];
  const denied = refused > 0 ? p("red", `  ${number(refused)} refused`) : "";
  const policies = session.policies.map((policy) => policy.name).join(", ") || "no policy";
  return [
    p("bold", within(`${session.pid}  ${plain(session.command.join(" "))}`)),
    `${within(`  ${facts.join("  ")}`)}${denied}`,
    p(
      "dim",
      within(
        `  ${policies}; ${session.doors.join(" and ") || "no"} door; trace ${session.trace ? `${session.trace.file} (${counted(session.trace.records, "record")})` : "none"}; watched for ${age(session.time - activity.since)}`,
      ),
    ),
    ...processLines(session).slice(0, SHOWN.processes).map(within),
    ...section(
      "files",
      activity.files.slice(0, SHOWN.files).map((use) => useLine(use, use.path)),
    ).map(within),
    ...section(
      "peers",
      activity.peers.slice(0, SHOWN.peers).map((use) => useLine(use, use.address)),
    ).map(within),
    ...section("refused", denials(session)).map((line) => p("red", within(line))),
  ];
}

function processLines({ tree, activity }: TopSession): string[] {
  const uses = new Map(activity.processes.map((use) => [use.pid, use]));
  const lines = tree
    .map(({ pid, command }) => ({
      pid,
      name: command.join(" ") || "?",
      use: uses.get(pid) ?? { calls: 0, read: 0, written: 0 },
    }))
    .sort((a, b) => b.use.calls - a.use.calls);
  return section(
    "processes",
    lines.map(({ pid, name, use }) => useLine(use, `${String(pid).padStart(7)} ${name}`)),
  );
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`  ${title.padEnd(10)}${HEAD}`, ...lines];
}

const HEAD = "     calls        read     written";

function useLine({ calls, read, written }: Use, name: string): string {
  return `            ${number(calls).padStart(10)}${bytes(read).padStart(12)}${bytes(written).padStart(12)}  ${plain(name)}`;
}

function denials({ summary }: TopSession): string[] {
  return summary.decisions
    .filter(({ action }) => action === "deny" || action === "kill")
    .slice(0, SHOWN.denials)
    .map(({ call, count, policy, rule, reason }) =>
      plain(
        `            ${number(count).padStart(10)}  ${call} by ${[policy, rule].filter(Boolean).join("/")}${reason ? `: ${reason}` : ""}`,
      ),
    );
}

const number = (value: number) => Math.round(value).toLocaleString("en");

function bytes(count: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const unit = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(count) / 10));
  return `${(count / 1024 ** unit).toFixed(unit === 0 ? 0 : 1)} ${units[unit]}`;
}

function age(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(Math.floor(whole / 3600))}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}

/** Names come from programs and may contain terminal escapes. */
const plain = (text: string) => text.replaceAll(/\p{Cc}/gu, "?");

const cut = (text: string, columns: number) =>
  text.length > columns ? `${text.slice(0, columns - 1)}…` : text;
