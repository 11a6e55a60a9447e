import { join } from "node:path";
import * as z from "zod";
import { baselineEnv } from "../../guard/credentials/env.js";
import { redact } from "../../guard/credentials/secrets.js";
import { DELEGATE_BLOCKED_TOOLS, toolName } from "../../guard/delegation/tools.js";
import { type Finding, findings } from "../../guard/finding.js";
import type { Judgement } from "../../guard/guard.js";
import type { RunOrder } from "../backend.js";
import { digestOf, hold, intentOf, judged } from "../files/target.js";
import { removeScratch, scratchFolder } from "../scratch.js";
import { Capture } from "../terminal/capture.js";
import { timeoutNote, told, untilAborted } from "../terminal/exec.js";
import { PATIENCE_MS } from "../terminal/order.js";
import { type Call, type Tool, ToolError, type World } from "../tool.js";
import { type Answer, type Asked, Channel, MAX_CALLS } from "./channel.js";
import { introduction, RUN } from "./module.js";

export const MAX_TIMEOUT_S = 300;
export const STDOUT_LIMIT = 50 * 1024;
export const STDERR_LIMIT = 10 * 1024;

const make = findings("python");

const input = z.strictObject({
  code: z.string().min(1).max(200_000).describe("A Python 3 script."),
  timeout: z.number().positive().optional().describe(`Seconds; default and at most ${MAX_TIMEOUT_S}.`),
  tools: z
    .array(z.string())
    .optional()
    .describe("The only tools that it may call; default: all that it may."),
  network: z.boolean().default(false).describe("It needs the internet: a person is asked for it as well."),
});
type Input = z.infer<typeof input>;

export interface PythonOutput {
  /** 124 when its time was over. */
  readonly exitCode: number;
  readonly signal?: string;
  readonly stdout: string;
  readonly stderr: string;
  /** More was printed than is shown. */
  readonly truncated: boolean;
  readonly timedOut: boolean;
  readonly toolCalls: number;
  readonly durationMs: number;
  /** What it tried and was refused. */
  readonly refused: readonly object[];
}

export const pythonRpc: Tool<Input, PythonOutput> = {
  name: "python_rpc",
  description: `Runs a Python 3 script in an empty folder that is removed afterwards, without network. A person approves every script. It calls tools by \`from hermes_tools import read_file, terminal_exec\` (at most ${MAX_CALLS} calls; what is refused raises ToolError) and prints what you want to know: ${STDOUT_LIMIT / 1024} KB of stdout and ${STDERR_LIMIT / 1024} KB of stderr are returned. It ends after ${MAX_TIMEOUT_S} s. Files outside its folder are changed by tools only.`,
  input,
  readOnly: false,
  async judge(asked, world) {
    const { code, network, tools } = asked;
    const subject = { kind: "python", input: code } as const;
    return {
      ...intentOf({
        what: `run a Python script of ${code.split("\n").length} lines${network ? ", with network" : ""}`,
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
    hold(call, judgeScript(asked, known.findings, world), digest(asked));
    if (world.backend.name !== "local")
      throw new ToolError(
        "not-here",
        `Scripts run on this machine, and commands go to ${world.backend.name}.`,
      );
    const folder = await scratchFolder();
    return runIn(folder, asked, call, world).finally(() =>
      removeScratch(folder).catch((error: Error) => call.output("stderr", Buffer.from(`${error.message}\n`))),
    );
  },
};

const ARGV = ["python3", "-I", "-u", "-c", RUN];

function digest({ code, network, tools = ["*"] }: Input): string {
  return digestOf("python_rpc", "", code, String(network), JSON.stringify([...tools].sort()));
}

/** What is refused for the sake of the network can be approved together with it, unless the configuration refuses it. */
const OF_NETWORK = new Set(["python-network", "python-socket"]);

function softened(finding: Finding, { config, atLeast }: World): Finding {
  const { rule, action } = finding;
  const configured = config.actions[rule] === "deny" || atLeast[rule] === "deny";
  return OF_NETWORK.has(rule) && action === "deny" && !configured ? { ...finding, action: "ask" } : finding;
}

const APPROVAL = "python-approval";

/** The guard asks about every script in the strict profile; here it is so in every profile. */
function judgeScript({ network, tools = [] }: Input, known: readonly Finding[], world: World): Judgement {
  const refused = tools.flatMap((name) => {
    const why = whyNot(name);
    return why ? [make.deny("blocked-tool", `${name}: ${why}`)] : [];
  });
  return judged([
    ...known.map((finding) => (network ? softened(finding, world) : finding)),
    ...refused,
    ...(network ? [make.ask("python-network-wanted", "The script would have the internet.")] : []),
    ...(known.some(({ rule }) => rule === APPROVAL)
      ? []
      : [make.ask(APPROVAL, "Every script needs an approval.")]),
  ]);
}

/** What a delegate never gets, a script does not either; nor does it start another one. */
function whyNot(tool: string): string | undefined {
  const name = toolName(tool);
  return name === "python_rpc" ? "A script does not start another one." : DELEGATE_BLOCKED_TOOLS[name];
}

async function runIn(folder: string, asked: Input, call: Call, world: World): Promise<PythonOutput> {
  const over = new AbortController();
  const channel = await Channel.open(join(folder, "channel"), (wanted) =>
    answer(wanted, asked, call, over.signal),
  );
  const captured = { stdout: new Capture(STDOUT_LIMIT), stderr: new Capture(STDERR_LIMIT) };
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
      ...told(result),
      stdout: redact(captured.stdout.text()).text,
      stderr:
        redact(captured.stderr.text()).text +
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

const LEFT = "\n[hermes: what the script had left running was ended]\n";

function timeoutOf({ timeout = MAX_TIMEOUT_S }: Input): number {
  return Math.min(timeout, MAX_TIMEOUT_S) * 1000;
}

/** The folder is all that the script can change, and the channel all that it can reach. */
function orderOf(folder: string, channel: string, asked: Input, call: Call, world: World): RunOrder {
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
      writable: [],
      approved: call.approved,
      network: asked.network ? "public" : "none",
      connect: [channel],
      config: { config, atLeast },
    },
    patience: config.approvals.mode === "off" ? 0 : PATIENCE_MS,
  };
}

async function answer({ tool, input }: Asked, asked: Input, call: Call, over: AbortSignal): Promise<Answer> {
  const why = whyNot(tool) ?? (asked.tools?.includes(tool) === false ? "It was not asked for." : undefined);
  if (why) return { error: `${tool}: ${why}`, rule: "blocked-tool" };
  const { status, output, reason, rule } = (await call.callTool(tool, input, over)) as Outcome;
  if (status === "DONE" && output) return { output };
  return { error: reason ?? `${tool}: ${status}`, ...(rule !== undefined && { rule }) };
}

/** As the toolbox answers. */
interface Outcome {
  readonly status: string;
  readonly output?: object;
  readonly reason?: string;
  readonly rule?: string;
}
