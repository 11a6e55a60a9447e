import { join } from "node:path";
import * as z from "zod";
import { baselineEnv } from "../../../intent/guard/credentials/env.js";
import { redact } from "../../../intent/guard/credentials/secrets.js";
import { DELEGATE_BLOCKED_TOOLS, toolName } from "../../../intent/guard/delegation/tools.js";
import { type Finding, findings } from "../../../intent/guard/finding.js";
import type { Judgement } from "../../../intent/guard/guard.js";
import { counted } from "../../../nouns/counted.js";
import { heldAtMost } from "../../../people/approval/limits.js";
import type { RunOrder } from "../backend.js";
import { intentOf, judgementOf, operationDigest, requireApproved } from "../files/file-target.js";
import { removeScratch, scratchFolder } from "../scratch.js";
import { Capture } from "../terminal/capture.js";
import { clampNote, timeoutNote, told, untilAborted } from "../terminal/exec.js";
import { type Tool, type ToolCall, type ToolContext, ToolRefusal } from "../tool.js";
import { MAX_CALLS, type RpcCall, RpcChannel, type RpcReply } from "./channel.js";
import { introduction, RUN } from "./module.js";

const MAX_PYTHON_TIMEOUT_S = 300;
const STDOUT_LIMIT = 50 * 1024;
const STDERR_LIMIT = 10 * 1024;

const make = findings("python");

const input = z.strictObject({
  code: z.string().min(1).max(200_000).describe("A Python 3 script."),
  timeout: z.number().positive().optional().describe(`Seconds; default and at most ${MAX_PYTHON_TIMEOUT_S}.`),
  tools: z
    .array(z.string())
    .optional()
    .describe("The only tools that the script may call; default: all allowed ones."),
  network: z
    .boolean()
    .default(false)
    .describe("The script needs the internet; a person must approve that too."),
});
type Input = z.infer<typeof input>;

interface PythonOutput {
  /** 124 after a timeout. */
  readonly exitCode: number;
  readonly signal?: string;
  readonly stdout: string;
  readonly stderr: string;
  /** The output was longer than what is shown. */
  readonly truncated: boolean;
  readonly timedOut: boolean;
  readonly toolCalls: number;
  readonly durationMs: number;
  /** Actions of the script that were refused. */
  readonly refused: readonly object[];
}

export const pythonRpc: Tool<Input, PythonOutput> = {
  name: "python_rpc",
  description: `Runs a Python 3 script in an empty folder that is removed afterwards, without network. A person must approve every script. It calls tools with \`from hermes_tools import read_file, terminal_exec\` (at most ${MAX_CALLS} calls; a refused call raises ToolError) and prints its results: ${STDOUT_LIMIT / 1024} KB of stdout and ${STDERR_LIMIT / 1024} KB of stderr are returned. It ends after ${MAX_PYTHON_TIMEOUT_S} s. It can change files outside its folder only through tools.`,
  input,
  readOnly: false,
  async judge(asked, world) {
    const { code, network, tools } = asked;
    // Before a person is asked: an approval could not make it run.
    if (world.backend.name !== "local")
      throw new ToolRefusal(
        "not-here",
        `Scripts run only on this machine, but commands are configured to run on the ${world.backend.name} backend: use terminal_exec with python3.`,
      );
    const subject = { kind: "python", input: code } as const;
    return {
      ...intentOf({
        what: `run a Python script of ${counted(code.split("\n").length, "line")}${network ? ", with network" : ""}`,
        subject,
        judgement: judgeScript(asked, (await world.guard.judge(subject)).findings, world),
        digest: digest(asked),
        detail: { code: redact(code).text, network, ...(tools && { tools }) },
      }),
      argv: ["python3", "-I", "-u", "script.py"],
    };
  },

  async run(asked, call, world) {
    const known = world.guard.check({ kind: "python", input: asked.code });
    requireApproved(call, judgeScript(asked, known.findings, world), digest(asked));
    const folder = await scratchFolder();
    return runIn(folder, asked, call, world).finally(() =>
      removeScratch(folder).catch((error: Error) => call.output("stderr", Buffer.from(`${error.message}\n`))),
    );
  },
};

const ARGV = ["python3", "-I", "-u", "-c", RUN];

function digest({ code, network, tools = ["*"] }: Input): string {
  return operationDigest("python_rpc", "", code, String(network), JSON.stringify([...tools].sort()));
}

/**
 * A finding that only concerns the network can be approved together with the network, unless the configuration denies it.
 */
const OF_NETWORK = new Set(["python-network", "python-socket"]);

function softened(finding: Finding, { config, atLeast }: ToolContext): Finding {
  const { rule, action } = finding;
  const configured = config.actions[rule] === "deny" || atLeast[rule] === "deny";
  return OF_NETWORK.has(rule) && action === "deny" && !configured ? { ...finding, action: "ask" } : finding;
}

const APPROVAL = "python-approval";

/** The guard's strict profile asks about every script; here every profile does. */
function judgeScript(
  { network, tools = [] }: Input,
  known: readonly Finding[],
  world: ToolContext,
): Judgement {
  const refused = tools.flatMap((name) => {
    const why = whyNot(name);
    return why ? [make.deny("blocked-tool", `${name}: ${why}`)] : [];
  });
  return judgementOf([
    ...known.map((finding) => (network ? softened(finding, world) : finding)),
    ...refused,
    ...(network ? [make.ask("python-network-wanted", "The script would have access to the internet.")] : []),
    ...(known.some(({ rule }) => rule === APPROVAL)
      ? []
      : [make.ask(APPROVAL, "Every script needs an approval.")]),
  ]);
}

/** A script never gets the tools that a delegate never gets, and cannot start another script. */
function whyNot(tool: string): string | undefined {
  const name = toolName(tool);
  return name === "python_rpc" ? "A script cannot start another script." : DELEGATE_BLOCKED_TOOLS[name];
}

async function runIn(
  folder: string,
  asked: Input,
  call: ToolCall,
  world: ToolContext,
): Promise<PythonOutput> {
  const over = new AbortController();
  const channel = await RpcChannel.open(join(folder, "channel"), (wanted) =>
    answer(wanted, asked, call, over.signal),
  );
  const captured = { stdout: new Capture(STDOUT_LIMIT), stderr: new Capture(STDERR_LIMIT) };
  const clamp = clampNote(asked.timeout, MAX_PYTHON_TIMEOUT_S);
  if (clamp) call.output("stderr", Buffer.from(clamp));
  const began = performance.now();
  try {
    const running = await world.backend.start(orderOf(folder, channel.path, asked, call, world), {
      output(stream, bytes) {
        captured[stream].add(bytes);
        call.output(stream, bytes);
      },
    });
    running.write(introduction(channel.path, channel.token, asked.code));
    running.closeInput();
    const result = await untilAborted(running, call.signal);
    return {
      ...told(result, world.workspace),
      stdout: redact(captured.stdout.text()).text,
      stderr:
        redact(captured.stderr.text()).text +
        clamp +
        (result.timedOut ? timeoutNote(timeoutOf(asked)) : result.leftBehind ? LEFT : ""),
      truncated: captured.stdout.truncated || captured.stderr.truncated,
      toolCalls: channel.calls,
      durationMs: Math.round(performance.now() - began),
    };
  } finally {
    over.abort(new Error("the script has ended"));
    await channel.close();
  }
}

const LEFT = "\n[hermes: processes that the script left running were killed]\n";

function timeoutOf({ timeout = MAX_PYTHON_TIMEOUT_S }: Input): number {
  return Math.min(timeout, MAX_PYTHON_TIMEOUT_S) * 1000;
}

/** The script can write only in this folder and connect only to this channel. */
function orderOf(
  folder: string,
  channel: string,
  asked: Input,
  call: ToolCall,
  world: ToolContext,
): RunOrder {
  const { home, config, atLeast } = world;
  const { pass, strip } = config.credentials;
  const { env } = baselineEnv(world.env, { declared: pass, strip });
  return {
    argv: ARGV,
    cwd: folder,
    env: { ...env, HOME: folder, TMPDIR: folder },
    timeout: timeoutOf(asked),
    stdin: "pipe",
    deed: {
      workspace: folder,
      home,
      // pyenv and its like enter their installation before they start the interpreter.
      ...(env.PATH !== undefined && { searchPath: env.PATH }),
      writable: [],
      approved: call.approved,
      network: asked.network ? "public" : "none",
      connect: [channel],
      config: { config, atLeast },
    },
    patience: heldAtMost(config.approvals),
  };
}

async function answer(
  { tool, input }: RpcCall,
  asked: Input,
  call: ToolCall,
  over: AbortSignal,
): Promise<RpcReply> {
  const why =
    whyNot(tool) ??
    (asked.tools?.includes(tool) === false ? "It is not in the script's list of tools." : undefined);
  if (why) return { error: `${tool}: ${why}`, rule: "blocked-tool" };
  const { status, output, reason, rule } = (await call.callTool(tool, input, over)) as Outcome;
  if (status === "DONE" && output) return { output };
  return { error: reason ?? `${tool}: ${status}`, ...(rule !== undefined && { rule }) };
}

/** In the form of the toolbox's answers. */
interface Outcome {
  readonly status: string;
  readonly output?: object;
  readonly reason?: string;
  readonly rule?: string;
}
