import { setTimeout as sleep } from "node:timers/promises";
import { isatty } from "node:tty";
import { processesBelow, readStat } from "../process/proc.js";
import type { Answer } from "./look.js";
import { exit, print } from "./output.js";
import { Sessions, words } from "./sessions.js";
import { frame } from "./top-view.js";
import { usage } from "./values.js";

interface Flags {
  once?: boolean;
  json?: boolean;
  delay: string;
}

/** A session between two looks. */
export interface SessionView extends Answer {
  /** Seconds between them. */
  readonly seconds: number;
  readonly callsPerSecond: number;
  readonly tree: readonly ProcessView[];
}

export interface ProcessView {
  readonly pid: number;
  readonly parent: number;
  readonly command: readonly string[];
}

/** What sessions do, live. */
export async function topCommand(pid: string | undefined, flags: Flags): Promise<number> {
  if (pid !== undefined && !/^\d+$/.test(pid))
    throw usage(`a session is named by a process number, not "${pid}"`);
  const delay = Number(flags.delay);
  if (!(delay >= 0.1 && delay <= 3600))
    throw usage(`--delay takes seconds from 0.1 on, not "${flags.delay}"`);
  const sessions = new Sessions();
  const one = pid === undefined ? undefined : Number(pid);
  let before = await sessions.ask(one);
  const live = !flags.once && !flags.json && isatty(1);
  if (live) takeScreen();
  do {
    await sleep(delay * 1000);
    const now = await sessions.ask(one);
    const views = now.map((answer) =>
      view(
        answer,
        before.find((a) => a.supervisor === answer.supervisor),
      ),
    );
    before = now;
    show(views, flags, live);
  } while (live || (flags.json && !flags.once));
  sessions.close();
  return before.length === 0 ? 1 : 0;
}

function show(views: readonly SessionView[], flags: Flags, live: boolean): void {
  if (flags.json) print(`${JSON.stringify({ sessions: views })}\n`);
  else if (!live) print(`${frame(views, 200, 1000).join("\n")}\n`);
  else {
    const { columns = 80, rows = 24 } = process.stdout;
    const lines = frame(views, columns, rows - 1).map((line) => `${line}${CLEAR_LINE}`);
    print(`${HOME}${lines.join("\r\n")}${CLEAR_BELOW}`);
  }
}

export function view(now: Answer, before: Answer | undefined): SessionView {
  const from = before ?? { time: now.started, summary: { calls: 0 } };
  const seconds = Math.max(now.time - from.time, 0.001);
  const callsPerSecond = (now.summary.calls - from.summary.calls) / seconds;
  return { ...now, seconds, callsPerSecond, tree: treeOf(now) };
}

export function treeOf({
  launcher,
  pid,
  attached,
}: Pick<Answer, "launcher" | "pid" | "attached">): ProcessView[] {
  const parent = attached ? readStat(pid)?.parent : undefined;
  const all = attached
    ? [...(parent === undefined ? [] : [{ pid, parent }]), ...processesBelow(pid)]
    : processesBelow(launcher).filter((process) => process.parent !== launcher); // not the broker
  return all.map((process) => ({ ...process, command: words(process.pid) }));
}

const HOME = "\u001b[H";
const CLEAR_LINE = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";
const OWN_SCREEN = "\u001b[?1049h\u001b[?25l";
const OLD_SCREEN = "\u001b[?25h\u001b[?1049l";

/** q and Ctrl-C end it, and the terminal is as it was. */
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
