import { setTimeout as sleep } from "node:timers/promises";
import { isatty } from "node:tty";
import { processesBelow, readLink, readStat } from "../../kernel/process/proc.js";
import { usageError } from "../options/values.js";
import { commandLineOf, SessionStatusReader } from "../run/session-status.js";
import type { StatusReply } from "../run/status-signal.js";
import { exit, print } from "../views/output.js";
import { renderTop } from "../views/top.js";

interface Flags {
  once?: boolean;
  json?: boolean;
  delay: string;
}

/** A session's change between two samples. */
export interface TopSession extends StatusReply {
  /** Seconds between the samples. */
  readonly seconds: number;
  readonly callsPerSecond: number;
  readonly tree: readonly TopProcess[];
}

interface TopProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: readonly string[];
}

/** The live view of sessions. */
export async function topCommand(pid: string | undefined, flags: Flags): Promise<number> {
  if (pid !== undefined && !/^\d+$/.test(pid)) throw usageError(`top takes a process id, not "${pid}"`);
  const delay = Number(flags.delay);
  if (!(delay >= 0.1 && delay <= 3600))
    throw usageError(`--delay takes at least 0.1 seconds, not "${flags.delay}"`);
  const sessions = new SessionStatusReader();
  const one = pid === undefined ? undefined : Number(pid);
  const silent = new Set<number>();
  let before = await sessions.ask(one, silent);
  const live = !flags.once && !flags.json && isatty(1);
  let seen = 0;
  if (live) takeScreen();
  do {
    await sleep(delay * 1000);
    const now = await sessions.ask(one, silent);
    const views = now
      .map((answer) =>
        topSession(
          answer,
          before.find((a) => a.supervisor === answer.supervisor),
        ),
      )
      .filter(({ tree }) => tree.length > 0); // without a process it is starting, or has just ended
    before = now;
    seen = views.length;
    show(views, flags, live);
  } while (live || (flags.json && !flags.once));
  sessions.close();
  return seen === 0 ? 1 : 0;
}

function show(views: readonly TopSession[], flags: Flags, live: boolean): void {
  if (flags.json) print(`${JSON.stringify({ sessions: views })}\n`);
  else if (!live) print(`${renderTop(views, 200, 1000).join("\n")}\n`);
  else {
    const { columns = 80, rows = 24 } = process.stdout;
    const lines = renderTop(views, columns, rows - 1).map((line) => `${line}${CLEAR_LINE}`);
    print(`${HOME}${lines.join("\r\n")}${CLEAR_BELOW}`);
  }
}

export function topSession(now: StatusReply, before: StatusReply | undefined): TopSession {
  const from = before ?? { time: now.started, summary: { calls: 0 } };
  const seconds = Math.max(now.time - from.time, 0.001);
  const callsPerSecond = (now.summary.calls - from.summary.calls) / seconds;
  return { ...now, seconds, callsPerSecond, tree: processTree(now) };
}

export function processTree({
  launcher,
  pid,
  attached,
}: Pick<StatusReply, "launcher" | "pid" | "attached">): TopProcess[] {
  const parent = attached ? readStat(pid)?.parent : undefined;
  const all = attached
    ? [...(parent === undefined ? [] : [{ pid, parent }]), ...processesBelow(pid)]
    : ofTheProgram(launcher);
  return all.map((process) => ({ ...process, command: commandLineOf(process.pid) }));
}

/** Not the broker, nor other processes of HERMES in the session. */
function ofTheProgram(launcher: number): { readonly pid: number; readonly parent: number }[] {
  const own = readLink(`/proc/${launcher}/exe`);
  const isOwn = (pid: number) => own !== "" && readLink(`/proc/${pid}/exe`) === own;
  return processesBelow(launcher).filter(({ pid, parent }) => parent !== launcher && !isOwn(pid));
}

const HOME = "\u001b[H";
const CLEAR_LINE = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";
const OWN_SCREEN = "\u001b[?1049h\u001b[?25l";
const OLD_SCREEN = "\u001b[?25h\u001b[?1049l";

/** q and Ctrl-C leave it; the terminal is restored. */
function takeScreen(): void {
  print(`${OWN_SCREEN}${HOME}${CLEAR_BELOW}`);
  const leave = () => {
    if (process.stdin.isTTY) process.stdin.setRawMode(false);
    print(OLD_SCREEN);
    exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, leave);
  if (!process.stdin.isTTY) return;
  process.stdin.setRawMode(true).on("data", (keys) => {
    if (/[qQ\u0003\u0004]/.test(String(keys))) leave();
  });
}
