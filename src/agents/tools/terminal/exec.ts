import { createHash } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import * as z from "zod";
import { type Action, type Finding, strictest } from "../../../intent/guard/finding.js";
import type { Judgement } from "../../../intent/guard/guard.js";
import type { RuntimeCheckOptions } from "../../../intent/runtime-check/options.js";
import { commandParts } from "../../../people/approval/command-parts.js";
import { type CommandDigest, commandDigest } from "../../../people/approval/digest.js";
import { allowCommand, entryAgainstRefusal } from "../../../people/approval/how-to-allow.js";
import type { Running, RunResult } from "../backend.js";
import type { Tool, ToolCall, ToolContext, ToolIntent } from "../tool.js";
import { ToolRefusal } from "../tool.js";
import type { Background, BackgroundStarted } from "./background.js";
import { Capture } from "./capture.js";
import { environment, orderOf, workingDirectory } from "./order.js";

/** Of stdout and stderr each. */
export const OUTPUT_LIMIT = 8 * 1024;
const DEFAULT_TIMEOUT_S = 30;
const MAX_EXEC_TIMEOUT_S = 120;
const BACKGROUND_TIMEOUT_MS = 60 * 60_000;

const inputSchema = z.strictObject({
  command: z.string().min(1).max(100_000).describe("The bash command to run."),
  workingDirectory: z.string().optional().describe("A folder inside the workspace; default: the workspace."),
  timeout: z
    .number()
    .positive()
    .optional()
    .describe(`Seconds; default ${DEFAULT_TIMEOUT_S}, at most ${MAX_EXEC_TIMEOUT_S}.`),
  stdin: z.string().optional().describe("Text for the command's stdin; default: empty."),
  background: z
    .boolean()
    .optional()
    .describe("Start it and return at once; use terminal_process to poll it, write to it and end it."),
  pty: z
    .strictObject({
      columns: z.int().min(1).max(1000).default(80),
      rows: z.int().min(1).max(1000).default(24),
    })
    .optional()
    .describe("Run it in a terminal instead of pipes; all output is then stdout."),
});

export type TerminalInput = z.infer<typeof inputSchema>;

export interface TerminalOutput {
  /** 124 after a timeout. */
  readonly exitCode: number;
  readonly signal?: string;
  readonly stdout: string;
  readonly stderr: string;
  /** The output was longer than what is shown. */
  readonly truncated: boolean;
  readonly timedOut: boolean;
  /** Processes that it left running were killed. */
  readonly leftBehind?: boolean;
  readonly durationMs: number;
  /** Actions of the command that were refused. */
  readonly refused: readonly {
    readonly what: string;
    readonly reason: string;
    readonly rule: string;
    readonly times: number;
    /** What a person types to let it happen from the next command on. */
    readonly allow?: string;
  }[];
}

/**
 * Runs a shell command. The guard judges its text, the environment is cleaned, and the supervisor enforces the judgement at
 * system calls.
 */
export function terminalExec(
  background: Background,
): Tool<TerminalInput, TerminalOutput | BackgroundStarted> {
  return {
    name: "terminal_exec",
    description: `Run a shell command (bash) in the workspace. It is killed after ${DEFAULT_TIMEOUT_S} s, or after timeout (at most ${MAX_EXEC_TIMEOUT_S} s); use background for servers and long jobs. Returns the beginning and end of stdout and stderr, ${OUTPUT_LIMIT / 1024} KB each. Risky commands wait for a person's approval. Secrets, credentials and files outside the workspace are not accessible. Example: {"command": "npm test", "timeout": 90}`,
    input: inputSchema,
    readOnly: false,
    judge: judgeCommand,
    async run(input, call, world) {
      const place = workingDirectory(input.workingDirectory, world);
      if ("finding" in place) throw new ToolRefusal(place.finding.rule, place.finding.reason);
      const timeout = input.background
        ? BACKGROUND_TIMEOUT_MS
        : Math.min(input.timeout ?? DEFAULT_TIMEOUT_S, world.longestTimeout ?? MAX_EXEC_TIMEOUT_S) * 1000;
      const order = orderOf(
        {
          command: input.command,
          cwd: place.cwd,
          approved: call.approved,
          ...(call.approved.length > 0 && approvedScripts(input, place.cwd, call.digest, world)),
          timeout,
          more: {
            ...(call.givesStdin && { stdin: "ours" }),
            ...((input.stdin !== undefined || input.background) && { stdin: "pipe" }),
            ...(input.pty && { terminal: input.pty }),
          },
        },
        world,
      );
      if (input.background) return background.start(order, input, call, world);
      return inForeground(input, call, world, order, timeout);
    },
  };
}

async function judgeCommand(
  { command, workingDirectory: asked, stdin }: TerminalInput,
  world: ToolContext,
): Promise<ToolIntent> {
  const place = workingDirectory(asked, world);
  if ("finding" in place) return { what: command, action: "deny", findings: [place.finding], digest: "" };
  const { cwd } = place;
  const subject = { kind: "command", input: command, fields: { cwd } } as const;
  const judged = await world.guard.judge(subject);
  const findings = [
    ...judged.findings,
    ...(stdin === undefined ? [] : fedFindings(command, stdin, cwd, judged, world)),
  ];
  const action = findings.reduce<Action>((all, finding) => strictest(all, finding.action), judged.action);
  const { digest, files, programs } = digestOf(command, cwd, stdin, world);
  const ofPart = (part: string) => digestOf(part, cwd, stdin, world).digest;
  return {
    what: command,
    subject,
    action,
    findings,
    digest,
    programs,
    parts: action === "ask" ? commandParts(command, findings, ofPart) : [],
    detail: {
      cwd,
      explanation: world.guard.explain(subject),
      scripts: files,
      ...(stdin !== undefined && { stdin }),
    },
  };
}

/** Longer than a person types. The supervisor still checks what such a command does. */
const FED_AT_MOST = 1 << 16;

/** Input of a shell, or of another interpreter, is judged together with the command. */
function fedFindings(
  command: string,
  stdin: string,
  cwd: string,
  alone: Judgement,
  { guard }: ToolContext,
): Finding[] {
  if (stdin.length > FED_AT_MOST) return [];
  const end = `END_${createHash("sha256").update(stdin).digest("hex").slice(0, 16)}`;
  const input = `{ ${command}\n} <<'${end}'\n${stdin}\n${end}`;
  const known = new Set(alone.findings.map(({ rule }) => rule));
  return guard
    .check({ kind: "command", input, fields: { cwd } })
    .findings.filter(({ rule, layer }) => !known.has(rule) && layer !== "content")
    .map(({ span: _, ...finding }) => finding);
}

function digestOf(
  command: string,
  cwd: string,
  stdin: string | undefined,
  world: ToolContext,
): CommandDigest {
  const env = environment(world);
  return commandDigest({ command, cwd, env, home: world.home, ...(stdin !== undefined && { stdin }) });
}

/** A person does not read a larger script before answering. */
const SCRIPT_AT_MOST = 1 << 20;

/** The contents of the approved scripts. The run reads these, even if the files change afterwards. */
function approvedScripts(
  { command, stdin }: TerminalInput,
  cwd: string,
  approved: string,
  world: ToolContext,
): Pick<RuntimeCheckOptions, "scripts" | "scriptNames"> {
  const { digest, files } = digestOf(command, cwd, stdin, world);
  const changed = () =>
    new ToolRefusal(
      "changed",
      "A script of this command changed after the approval: call it again to ask again.",
    );
  if (digest !== approved) throw changed();
  const scripts: Record<string, string> = {};
  const scriptNames: Record<string, string> = {};
  for (const { path, hash } of files) {
    if (hash === null || !/^[0-9a-f]{64}$/.test(hash)) continue;
    const bytes = readFileSync(path);
    if (createHash("sha256").update(bytes).digest("hex") !== hash) throw changed();
    if (bytes.length > SCRIPT_AT_MOST) continue;
    const real = realpathSync.native(path);
    scripts[real] = bytes.toString("base64");
    scriptNames[path] = real;
  }
  return { scripts, scriptNames };
}

async function inForeground(
  input: TerminalInput,
  call: ToolCall,
  world: ToolContext,
  order: ReturnType<typeof orderOf>,
  timeout: number,
): Promise<TerminalOutput> {
  const captured = { stdout: new Capture(OUTPUT_LIMIT), stderr: new Capture(OUTPUT_LIMIT) };
  const clamp = clampNote(input.timeout, timeout / 1000);
  if (clamp) call.output("stderr", Buffer.from(clamp));
  const began = performance.now();
  const running = await world.backend.start(order, {
    output(stream, bytes) {
      captured[stream].add(bytes);
      call.output(stream, bytes);
    },
  });
  call.started(running);
  if (input.stdin !== undefined) {
    running.write(input.stdin);
    running.closeInput();
  }
  const result = await untilAborted(running, call.signal);
  return {
    ...told(result, world.workspace),
    stdout: captured.stdout.text(),
    stderr: captured.stderr.text() + clamp + note(result, timeout),
    truncated: captured.stdout.truncated || captured.stderr.truncated,
    durationMs: Math.round(performance.now() - began),
  };
}

export function told({ exitCode, signal, timedOut, leftBehind, refusals }: RunResult, workspace?: string) {
  return {
    exitCode,
    ...(signal !== undefined && { signal }),
    timedOut,
    ...(leftBehind && { leftBehind }),
    refused: refusals.map((refusal) => {
      const { what, reason, rule, times } = refusal;
      const entry = entryAgainstRefusal(refusal);
      return { what, reason, rule, times, ...(entry && { allow: allowCommand(entry, workspace) }) };
    }),
  };
}

/** A note for the agent. */
function note({ timedOut, leftBehind }: RunResult, timeout: number): string {
  if (timedOut) return timeoutNote(timeout);
  return leftBehind
    ? "\n[hermes: processes that it left running were killed; use background for those]\n"
    : "";
}

/** An agent that asked for more time must know that it had less. */
export function clampNote(asked: number | undefined, given: number): string {
  return asked !== undefined && asked > given
    ? `\n[hermes: timeout ${asked} s was lowered to ${given} s, the most that this tool gives]\n`
    : "";
}

export function timeoutNote(timeout: number): string {
  return `\n[hermes: timed out after ${timeout / 1000} s; all its processes were killed]\n`;
}

/** Aborting a call ends everything that it started. */
export async function untilAborted(running: Running, signal: AbortSignal): Promise<RunResult> {
  const abort = () => void running.kill();
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await running.result;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
