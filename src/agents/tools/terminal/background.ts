import * as z from "zod";
import type { Running, RunOrder, RunResult } from "../backend.js";
import { type Tool, type ToolCall, type ToolContext, ToolError } from "../tool.js";
import { Capture } from "./capture.js";
import { OUTPUT_LIMIT, type TerminalInput, told } from "./exec.js";

/** Commands that run in the background. They belong to the agent's session and end with it. */
export class Background {
  readonly #jobs = new Map<string, Job>();

  async start(
    order: RunOrder,
    input: TerminalInput,
    call: ToolCall,
    world: ToolContext,
  ): Promise<BackgroundStarted> {
    const alive = [...this.#jobs.values()].filter(({ result }) => result === undefined);
    if (alive.length >= MOST_JOBS)
      throw new ToolError(
        "too-many-jobs",
        `${MOST_JOBS} commands already run in the background: end one first.`,
      );
    this.#forgetOld();
    const job: Job = { command: input.command, fresh: newCaptures(), started: Date.now() };
    job.running = await world.backend.start(order, {
      output(stream, bytes) {
        job.fresh[stream].add(bytes);
        call.output(stream, bytes);
      },
    });
    if (input.stdin !== undefined) job.running.write(input.stdin);
    job.ended = job.running.result.then(
      (result) => {
        job.result = result;
      },
      (error) => {
        job.failed = (error as Error).message;
      },
    );
    this.#jobs.set(call.id, job);
    return { id: call.id, pid: job.running.pid, running: true };
  }

  /** Output since the last poll; waits briefly if requested. */
  async poll(id: string, seconds: number): Promise<BackgroundState> {
    const job = this.#job(id);
    if (seconds > 0) await Promise.race([job.ended, later(seconds * 1000)]);
    const { stdout, stderr } = job.fresh;
    job.fresh = newCaptures();
    const { result, failed } = job;
    return {
      id,
      running: result === undefined && failed === undefined,
      stdout: stdout.text(),
      stderr: stderr.text(),
      truncated: stdout.truncated || stderr.truncated,
      ...(result && told(result)),
      ...(failed !== undefined && { failed }),
    };
  }

  write(id: string, text: string, end: boolean): void {
    const { running } = this.#job(id);
    running!.write(text);
    if (end) running!.closeInput();
  }

  async kill(id: string): Promise<BackgroundState> {
    const job = this.#job(id);
    await job.running!.kill();
    await job.ended;
    return this.poll(id, 0);
  }

  list(): readonly { id: string; command: string; running: boolean; seconds: number }[] {
    return [...this.#jobs].map(([id, { command, result, failed, started }]) => ({
      id,
      command,
      running: result === undefined && failed === undefined,
      seconds: Math.round((Date.now() - started) / 1000),
    }));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#jobs.values()].map(({ running }) => running?.kill()));
  }

  #job(id: string): Job {
    const job = this.#jobs.get(id);
    if (!job) throw new ToolError("no-such-job", `There is no background command with the id ${id}.`);
    return job;
  }

  #forgetOld(): void {
    for (const [id, { result, failed }] of this.#jobs)
      if (this.#jobs.size >= MOST_REMEMBERED && (result || failed !== undefined)) this.#jobs.delete(id);
  }
}

const MOST_JOBS = 16;
const MOST_REMEMBERED = 100;

interface Job {
  readonly command: string;
  readonly started: number;
  /** Output that the agent has not polled yet. */
  fresh: { stdout: Capture; stderr: Capture };
  running?: Running;
  ended?: Promise<void>;
  result?: RunResult;
  failed?: string;
}

export interface BackgroundStarted {
  readonly id: string;
  readonly pid: number;
  readonly running: true;
}

interface BackgroundState extends Partial<ReturnType<typeof told>> {
  readonly id: string;
  readonly running: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly failed?: string;
}

function newCaptures() {
  return { stdout: new Capture(OUTPUT_LIMIT), stderr: new Capture(OUTPUT_LIMIT) };
}

function later(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}

const processSchema = z.strictObject({
  action: z.enum(["poll", "write", "kill", "list"]),
  id: z.string().optional().describe("The id that terminal_exec returned; not needed for list."),
  wait: z
    .number()
    .min(0)
    .max(60)
    .optional()
    .describe("poll: wait up to this many seconds for the command to end."),
  input: z.string().max(100_000).optional().describe("write: text for the command's stdin."),
  end: z.boolean().optional().describe("write: close stdin after this."),
});

type ProcessInput = z.infer<typeof processSchema>;

export function terminalProcess(background: Background): Tool<ProcessInput> {
  return {
    name: "terminal_process",
    description:
      'Manage commands that terminal_exec started in the background: poll (output since the last poll, and whether it runs), write to its stdin, kill it with everything it started, or list all. Example: {"action": "poll", "id": "…", "wait": 5}',
    input: processSchema,
    readOnly: false,
    judge: async ({ action, id }) => ({
      what: `${action} ${id ?? ""}`.trim(),
      action: "allow",
      findings: [],
      digest: "",
    }),
    async run({ action, id, wait = 0, input = "", end = false }) {
      if (action === "list") return { jobs: background.list() };
      if (id === undefined)
        throw new ToolError("no-such-job", `${action} needs the id that terminal_exec returned.`);
      if (action === "kill") return background.kill(id);
      if (action === "write") background.write(id, input, end);
      return background.poll(id, action === "poll" ? wait : 0);
    },
  };
}
