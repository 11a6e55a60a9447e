import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HERMES } from "../../support/cli.js";
import { CONTRACTS } from "./contract.js";

export type AgentName = "claude-code" | "codex" | "gemini";

/** A project that an agent works in, of a user with a home and a HERMES of their own. */
export class Place {
  readonly folder: string;
  readonly project: string;
  readonly home: string;
  readonly state: string;
  readonly env: NodeJS.ProcessEnv;

  constructor(under = tmpdir()) {
    this.folder = realpathSync(mkdtempSync(join(under, "hermes-hooks-")));
    this.project = join(this.folder, "project");
    this.home = join(this.folder, "home");
    this.state = join(this.folder, "state");
    for (const folder of [this.project, this.home, this.state]) mkdirSync(folder);
    this.env = {
      ...{ PATH: process.env.PATH, HOME: this.home, HERMES_HOME: this.state },
      HERMES_NO_RESIDENT: "1", // test/agents/hooks/resident.test.ts has one
    };
  }

  write(file: string, text: string): string {
    const path = join(this.folder, file);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  append(file: string, text: string): void {
    appendFileSync(join(this.folder, file), text);
  }

  /** Adds to a JSON file. */
  merge(file: string, value: object): void {
    const before = JSON.parse(readFileSync(join(this.folder, file), "utf8"));
    this.write(file, JSON.stringify({ ...before, ...value }));
  }

  /** The input of a hook as the agent writes it. */
  input(agent: AgentName, tool: string, toolInput: unknown, more: object = {}): string {
    const common = {
      session_id: "s-1",
      transcript_path: join(this.home, "transcript.jsonl"),
      cwd: this.project,
      tool_name: tool,
      tool_input: toolInput,
    };
    const own = {
      "claude-code": { permission_mode: "default", hook_event_name: "PreToolUse", tool_use_id: "toolu_01" },
      codex: {
        permission_mode: "default",
        hook_event_name: "PreToolUse",
        tool_use_id: "call_1",
        turn_id: "t-1",
        model: "gpt-5",
      },
      gemini: { hook_event_name: "BeforeTool", timestamp: "2026-05-01T12:00:00.000Z" },
    }[agent];
    return JSON.stringify({ ...common, ...own, ...more });
  }

  hook(agent: AgentName, input: string | Buffer, env: NodeJS.ProcessEnv = {}): Answered {
    const run = this.run(HERMES, ["hook", agent], { input, env });
    return { ...run, answer: answerOf(agent, run, input) };
  }

  run(
    program: string,
    args: readonly string[],
    options: { input?: string | Buffer; cwd?: string; env?: NodeJS.ProcessEnv } = {},
  ): SpawnSyncReturns<string> {
    return spawnSync(program, args, {
      cwd: options.cwd ?? this.project,
      env: { ...this.env, ...options.env },
      encoding: "utf8",
      timeout: 110_000,
      ...(options.input !== undefined && { input: options.input }),
    });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what an agent reads is JSON of many shapes
export type Answered = SpawnSyncReturns<string> & { readonly answer: any };

/** What the agent makes of it: undefined when there was no opinion. Throws when the contract is broken. */
function answerOf(
  agent: AgentName,
  { status, stdout, stderr }: SpawnSyncReturns<string>,
  input: string | Buffer,
) {
  if (status === 2) {
    if (stdout !== "" || stderr.trim() === "")
      throw new Error(`a refusal with stdout, or without a reason: ${stdout}`);
    return "blocked";
  }
  if (status !== 0) throw new Error(`status ${status}: ${stderr}`);
  if (stdout === "") return undefined;
  const event = (JSON.parse(String(input)) as { hook_event_name: string }).hook_event_name;
  return CONTRACTS[agent]![event]!.parse(JSON.parse(stdout));
}
