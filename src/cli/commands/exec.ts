import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import { takeAgentAnswer } from "../../agents/hooks/agent-question.js";
import type { CallOptions, ToolResult } from "../../agents/tools/options.js";
import type { TerminalOutput } from "../../agents/tools/terminal/exec.js";
import { Toolbox } from "../../agents/tools/toolbox.js";
import { readStat } from "../../kernel/process/proc.js";
import { escapeControl } from "../../nouns/text.js";
import { workspaceOf } from "../../nouns/workspace.js";
import { openStore } from "../../record/store/open.js";
import { checkSandboxAround } from "../../session/sandbox-around.js";
import type { Thread } from "../../session/thread.js";
import { choice, usageError, workspaceOption } from "../options/values.js";
import { whenCallerEnds } from "../run/caller.js";
import { hasTerminal } from "../run/terminal.js";
import { REFUSES_ALL, TerminalApprover, waitingText } from "../run/terminal-approver.js";
import { relayInput, terminalSize } from "../run/terminal-relay.js";
import { say } from "../views/output.js";

export interface ExecFlags {
  readonly workspace?: string;
  readonly cwd?: string;
  readonly here?: boolean;
  readonly timeout?: string;
  readonly profile?: string;
  readonly store?: string;
  readonly ask?: string;
  readonly asked?: string;
  readonly pty?: boolean;
  readonly stdin?: boolean;
  readonly json?: boolean;
}

/** Refused, or not answered in time: the status of a shell for what it may not execute. */
const REFUSED = 126;
const FAILED = 125;

/** A day: the user who writes the command line decides, not a model. */
const LONGEST_S = 86_400;

/**
 * Runs one command like an agent's tool: the guard judges it, an approver is asked, the supervisor enforces it, the audit
 * records it.
 */
export async function execCommand(command: string, flags: ExecFlags, thread?: Thread): Promise<number> {
  const where = choice("--ask", flags.ask ?? "terminal", ["terminal", "queue", "no"]);
  const approver = where === "terminal" && hasTerminal() ? new TerminalApprover() : undefined;
  const { asked } = flags;
  const { workspace } = workspaceOption(flags.workspace);
  const store = await openStore(flags.store).catch((why) => {
    checkSandboxAround({ traces: true }); // it makes the home read-only, too
    throw why;
  });
  const answered =
    asked === undefined
      ? []
      : [await takeAgentAnswer(store, asked, { command, workspace: workspaceOf(".", workspace).folder })];
  const toolbox = await Toolbox.open({
    ...(workspace !== undefined && { workspace }),
    store,
    agent: "hermes exec",
    tools: ["terminal_exec"],
    ...(thread && { thread }),
    longestTimeout: LONGEST_S,
    inForce: (text, isFirst) => isFirst && say(`hermes: ${escapeControl(text)}\n`),
    problem: (text) => say(`hermes: ${text}\n`),
    ...(flags.profile !== undefined && {
      profile: choice("--profile", flags.profile, ["standard", "strict"]),
    }),
    approvers: [...answered, ...(approver ? [approver] : []), ...(where === "no" ? [REFUSES_ALL] : [])],
  });
  const end = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => end.abort(new Error(signal)));
  // Nothing runs, and no question waits, for a caller that is gone.
  whenCallerEnds(() => end.abort(new Error("the caller has ended")));
  const terminal = takesTerminal(flags, approver !== undefined);
  let endRelay = () => {};
  const letGo = () => {
    endRelay();
    endRelay = () => {};
  };
  try {
    const options: CallOptions = {
      signal: end.signal,
      givesStdin: !isatty(0) || inForeground(),
      started: (running) => {
        if (terminal) endRelay = relayInput(running);
      },
      ...(!approver && where !== "no" && { asked: (id) => say(`hermes: ${waitingText(id)}\n`) }),
      ...(!flags.json && { onOutput: (stream, bytes) => pass(stream === "stdout" ? 1 : 2, bytes) }),
    };
    const result = await toolbox.call("terminal_exec", await inputOf(command, flags, terminal), options);
    letGo();
    if (flags.json) pass(1, Buffer.from(`${JSON.stringify(result)}\n`));
    else tell({ ...result, reason: withRule(result) });
    return exitCodeOf(result);
  } finally {
    letGo();
    approver?.close();
    await toolbox.close();
    await store.close();
  }
}

/**
 * Whether the command gets a terminal of its own: when asked for, and where we have one. A question on our terminal and a
 * command that reads from it would be in each other's way.
 */
function takesTerminal({ pty, json, stdin }: ExecFlags, asksThere: boolean): boolean {
  return pty === true || (!json && !stdin && !asksThere && isatty(0) && isatty(1) && inForeground());
}

/** A command in a session of its own would read what is typed for another program: nothing stops it as a shell's job. */
function inForeground(): boolean {
  const own = readStat("self");
  return own !== undefined && own.group === own.foreground;
}

async function inputOf(command: string, flags: ExecFlags, terminal: boolean): Promise<object> {
  const { timeout, stdin, here } = flags;
  const cwd = here ? process.cwd() : flags.cwd;
  const seconds = timeout === undefined ? undefined : Number(timeout.replace(/s$/, ""));
  if (seconds !== undefined && !(seconds > 0)) throw usageError(`--timeout takes seconds, not "${timeout}"`);
  return {
    command,
    ...(cwd !== undefined && { workingDirectory: cwd }),
    ...(seconds !== undefined && { timeout: seconds }),
    ...(terminal && { pty: terminalSize() }),
    ...(stdin && { stdin: await readAll() }),
  };
}

async function readAll(): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

function pass(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; )
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return; // the reader is gone
    }
}

/** What the command was refused, and why it did not run. */
function tell({ status, reason, instead, allow, output }: ToolResult): void {
  const { refused = [], timedOut, leftBehind } = (output ?? {}) as Partial<TerminalOutput>;
  if (status !== "DONE") say(`hermes: ${status.toLowerCase()}: ${escapeControl(reason ?? "")}\n`);
  if (instead) say(`hermes: instead: ${escapeControl(instead)}\n`);
  if (allow) say(`hermes: to allow it: ${escapeControl(allow)}\n`);
  for (const { what, reason: why, rule, times } of refused)
    say(
      `hermes: refused${times > 1 ? ` ${times} times` : ""}: ${escapeControl(what)}: ${escapeControl(why)} (rule ${rule})\n`,
    );
  for (const line of new Set(refused.flatMap(({ allow }) => allow ?? [])))
    say(`hermes: to allow it: ${escapeControl(line)}\n`);
  if (timedOut) say("hermes: timed out\n");
  if (leftBehind) say("hermes: processes that the command left running were killed\n");
}

function exitCodeOf({ status, output }: ToolResult): number {
  if (status === "DONE" || status === "CANCELLED")
    return (output as TerminalOutput | undefined)?.exitCode ?? REFUSED;
  return status === "FAILED" ? FAILED : REFUSED;
}

function withRule({ reason = "", rule }: ToolResult): string {
  return rule === undefined ? reason : `${reason} (rule ${rule})`;
}
