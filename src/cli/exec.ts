import { writeSync } from "node:fs";
import { takeAnswer } from "../hooks/grant.js";
import { openStore } from "../store/open.js";
import { harmless } from "../text.js";
import type { CallOptions, ToolResult } from "../tools/options.js";
import type { TerminalOutput } from "../tools/terminal/exec.js";
import { Toolbox } from "../tools/toolbox.js";
import { TerminalQueueApprover } from "./ask.js";
import { say } from "./output.js";
import { hasTerminal } from "./terminal.js";
import { choice, usage } from "./values.js";

export interface ExecFlags {
  readonly workspace: string;
  readonly cwd?: string;
  readonly here?: boolean;
  readonly timeout?: string;
  readonly profile?: string;
  readonly store?: string;
  readonly ask: string;
  readonly asked?: string;
  readonly pty?: boolean;
  readonly stdin?: boolean;
  readonly json?: boolean;
}

/** Refused, or nobody answered: as a shell says of what it may not execute. */
const REFUSED = 126;
const FAILED = 125;

/** A day: whoever writes the command line decides, not a model. */
const LONGEST_S = 86_400;

/** One command as an agent's tool would run it: judged, asked about, held by the kernel, recorded. */
export async function execCommand(command: string, flags: ExecFlags): Promise<number> {
  const approver =
    choice("--ask", flags.ask, ["terminal", "queue"]) === "terminal" && hasTerminal()
      ? new TerminalQueueApprover()
      : undefined;
  const { workspace, asked } = flags;
  const store = await openStore(flags.store);
  const answered = asked === undefined ? [] : [await takeAnswer(store, asked, { command, workspace })];
  const toolbox = await Toolbox.open({
    workspace,
    store,
    agent: "hermes exec",
    longestTimeout: LONGEST_S,
    problem: (text) => say(`hermes: ${text}\n`),
    ...(flags.profile !== undefined && {
      profile: choice("--profile", flags.profile, ["standard", "strict"]),
    }),
    approvers: [...answered, ...(approver ? [approver] : [])],
  });
  const end = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => end.abort(new Error(signal)));
  try {
    const options: CallOptions = {
      signal: end.signal,
      ...(!approver && {
        asked: (id) =>
          say(`hermes: waits for an answer: hermes approvals approve ${id.slice(0, 8)}, or deny\n`),
      }),
      ...(!flags.json && { onOutput: (stream, bytes) => pass(stream === "stdout" ? 1 : 2, bytes) }),
    };
    const result = await toolbox.call("terminal_exec", await inputOf(command, flags), options);
    if (flags.json) pass(1, Buffer.from(`${JSON.stringify(result)}\n`));
    else tell(result);
    return exitCodeOf(result);
  } finally {
    approver?.close();
    await toolbox.close();
    await store.close();
  }
}

async function inputOf(command: string, flags: ExecFlags): Promise<object> {
  const { timeout, pty, stdin, here } = flags;
  const cwd = here ? process.cwd() : flags.cwd;
  const seconds = timeout === undefined ? undefined : Number(timeout.replace(/s$/, ""));
  if (seconds !== undefined && !(seconds > 0)) throw usage(`--timeout takes seconds, not "${timeout}"`);
  return {
    command,
    ...(cwd !== undefined && { workingDirectory: cwd }),
    ...(seconds !== undefined && { timeout: seconds }),
    ...(pty && { pty: { columns: process.stdout.columns ?? 80, rows: process.stdout.rows ?? 24 } }),
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
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return; // nobody reads it
    }
}

/** What the command was refused, and why it did not run, for whoever looks. */
function tell({ status, reason, instead, output }: ToolResult): void {
  const { refused = [], timedOut, leftBehind } = (output ?? {}) as Partial<TerminalOutput>;
  if (status !== "DONE") say(`hermes: ${status.toLowerCase()}: ${harmless(reason ?? "")}\n`);
  if (instead) say(`hermes: instead: ${harmless(instead)}\n`);
  for (const { what, reason: why, times } of refused)
    say(`hermes: refused${times > 1 ? ` ${times} times` : ""}: ${harmless(what)}: ${harmless(why)}\n`);
  if (timedOut) say("hermes: timed out\n");
  if (leftBehind) say("hermes: what it left running was ended\n");
}

function exitCodeOf({ status, output }: ToolResult): number {
  if (status === "DONE" || status === "CANCELLED")
    return (output as TerminalOutput | undefined)?.exitCode ?? REFUSED;
  return status === "FAILED" ? FAILED : REFUSED;
}
