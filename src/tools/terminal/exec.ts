import { createHash } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import * as z from "zod";
import { type CommandDigest, commandDigest } from "../../approval/digest.js";
import { partsOf } from "../../approval/parts.js";
import type { DeedOptions } from "../../deed/options.js";
import { type Action, type Finding, strictest } from "../../guard/finding.js";
import type { Judgement } from "../../guard/guard.js";
import type { Running, RunResult } from "../backend.js";
import type { Call, Intent, Tool, World } from "../tool.js";
import { ToolError } from "../tool.js";
import type { Background, BackgroundStarted } from "./background.js";
import { Capture } from "./capture.js";
import { environment, orderOf, workingDirectory } from "./order.js";

/** Of each, stdout and stderr. */
export const OUTPUT_LIMIT = 8 * 1024;
export const DEFAULT_TIMEOUT_S = 30;
export const MAX_TIMEOUT_S = 120;
const BACKGROUND_TIMEOUT_MS = 60 * 60_000;

const inputSchema = z.strictObject({
  command: z.string().min(1).max(100_000).describe("What bash is to run."),
  workingDirectory: z.string().optional().describe("A folder inside the workspace; default: the workspace."),
  timeout: z
    .number()
    .positive()
    .optional()
    .describe(`Seconds; default ${DEFAULT_TIMEOUT_S}, at most ${MAX_TIMEOUT_S}.`),
  stdin: z.string().optional().describe("What the command reads on stdin; default: nothing."),
  background: z
    .boolean()
    .optional()
    .describe("Start it and return at once; terminal_process polls it, writes to it and ends it."),
  pty: z
    .strictObject({
      columns: z.int().min(1).max(1000).default(80),
      rows: z.int().min(1).max(1000).default(24),
    })
    .optional()
    .describe("Give it a terminal in place of pipes; all output is then stdout."),
});

export type TerminalInput = z.infer<typeof inputSchema>;

export interface TerminalOutput {
  /** 124 when its time was over. */
  readonly exitCode: number;
  readonly signal?: string;
  readonly stdout: string;
  readonly stderr: string;
  /** More was printed than is shown. */
  readonly truncated: boolean;
  readonly timedOut: boolean;
  /** What it left running was ended. */
  readonly leftBehind?: boolean;
  readonly durationMs: number;
  /** What it tried and was refused. */
  readonly refused: readonly {
    readonly what: string;
    readonly reason: string;
    readonly rule: string;
    readonly times: number;
  }[];
}

/** Runs a shell command: judged as text, started clean, and held by the kernel to what it was judged as. */
export function terminalExec(
  background: Background,
): Tool<TerminalInput, TerminalOutput | BackgroundStarted> {
  return {
    name: "terminal_exec",
    description: `Run a shell command (bash) in the workspace. It ends after ${DEFAULT_TIMEOUT_S} s unless timeout (at most ${MAX_TIMEOUT_S} s) says otherwise; use background for servers and long jobs. Of stdout and stderr ${OUTPUT_LIMIT / 1024} KB each are returned, beginning and end. Risky commands wait for a person; secrets, other machines' credentials and files outside the workspace are out of reach. Example: {"command": "npm test", "timeout": 90}`,
    input: inputSchema,
    readOnly: false,
    judge: judgeCommand,
    async run(input, call, world) {
      const place = workingDirectory(input.workingDirectory, world);
      if ("finding" in place) throw new ToolError(place.finding.rule, place.finding.reason);
      const timeout = input.background
        ? BACKGROUND_TIMEOUT_MS
        : Math.min(input.timeout ?? DEFAULT_TIMEOUT_S, world.longestTimeout ?? MAX_TIMEOUT_S) * 1000;
      const order = orderOf(
        {
          command: input.command,
          cwd: place.cwd,
          approved: call.approved,
          ...(call.approved.length > 0 && approvedScripts(input, place.cwd, call.digest, world)),
          timeout,
          more: {
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
  world: World,
): Promise<Intent> {
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
    parts: action === "ask" ? partsOf(command, findings, ofPart) : [],
    detail: {
      cwd,
      explanation: world.guard.explain(subject),
      scripts: files,
      ...(stdin !== undefined && { stdin }),
    },
  };
}

/** Nobody types more than this; the kernel judges what comes of it all the same. */
const FED_AT_MOST = 1 << 16;

/** A shell, or whatever else runs what it reads, is judged with what it is fed. */
function fedFindings(
  command: string,
  stdin: string,
  cwd: string,
  alone: Judgement,
  { guard }: World,
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

function digestOf(command: string, cwd: string, stdin: string | undefined, world: World): CommandDigest {
  const env = environment(world);
  return commandDigest({ command, cwd, env, home: world.home, ...(stdin !== undefined && { stdin }) });
}

/** Larger files are not scripts that anybody reads before answering. */
const SCRIPT_AT_MOST = 1 << 20;

/** The scripts that were approved, with their contents: these are what the run reads, whatever becomes of the files. */
function approvedScripts(
  { command, stdin }: TerminalInput,
  cwd: string,
  approved: string,
  world: World,
): Pick<DeedOptions, "scripts" | "scriptNames"> {
  const { digest, files } = digestOf(command, cwd, stdin, world);
  const changed = () =>
    new ToolError("changed", "What it would run has changed since it was approved: ask again.");
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
  call: Call,
  world: World,
  order: ReturnType<typeof orderOf>,
  timeout: number,
): Promise<TerminalOutput> {
  const captured = { stdout: new Capture(OUTPUT_LIMIT), stderr: new Capture(OUTPUT_LIMIT) };
  const began = performance.now();
  const running = await world.backend.start(order, {
    output(stream, bytes) {
      captured[stream].add(bytes);
      call.output(stream, bytes);
    },
  });
  if (input.stdin !== undefined) {
    running.write(input.stdin);
    running.closeInput();
  }
  const result = await untilAborted(running, call.signal);
  return {
    ...told(result),
    stdout: captured.stdout.text(),
    stderr: captured.stderr.text() + note(result, timeout),
    truncated: captured.stdout.truncated || captured.stderr.truncated,
    durationMs: Math.round(performance.now() - began),
  };
}

export function told({ exitCode, signal, timedOut, leftBehind, refusals }: RunResult) {
  return {
    exitCode,
    ...(signal !== undefined && { signal }),
    timedOut,
    ...(leftBehind && { leftBehind }),
    refused: refusals.map(({ what, reason, rule, times }) => ({ what, reason, rule, times })),
  };
}

/** What the agent should know besides. */
function note({ timedOut, leftBehind }: RunResult, timeout: number): string {
  if (timedOut) return timeoutNote(timeout);
  return leftBehind ? "\n[hermes: what it left running was ended; use background for that]\n" : "";
}

export function timeoutNote(timeout: number): string {
  return `\n[hermes: timed out after ${timeout / 1000} s; everything it had started was ended]\n`;
}

/** Whoever gives up a call ends everything that it started. */
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
