import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach } from "vitest";
import type { Backend } from "../../../src/agents/tools/backend.js";
import type { Tool, ToolCall, ToolContext, ToolIntent } from "../../../src/agents/tools/tool.js";
import { optionsOf } from "../../../src/intent/guard/config/load.js";
import { type ConfigFile, configSchema } from "../../../src/intent/guard/config/schema.js";
import { CredentialFiles } from "../../../src/intent/guard/credentials/registry.js";
import { FileTracker } from "../../../src/intent/guard/files/tracker.js";
import { hostFiles, hostGuard } from "../../../src/intent/guard/host.js";

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is gone after the test. */
export function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), "hermes-tools-"));
  made.push(folder);
  return folder;
}

const NO_BACKEND: Backend = {
  name: "local",
  start: () => Promise.reject(new Error("these tests run nothing")),
  close: async () => {},
};

export interface WorldOptions {
  readonly config?: object;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly backend?: Backend;
  readonly workspace?: string;
  readonly env?: ToolContext["env"];
}

/** A world with a workspace and a home of its own, and the real guard. */
export async function makeWorld(options: WorldOptions = {}): Promise<ToolContext> {
  const folder = temporary();
  const workspace = options.workspace ?? join(folder, "workspace");
  const home = join(folder, "home");
  for (const path of [workspace, home]) mkdirSync(path, { recursive: true });
  for (const [name, content] of Object.entries(options.files ?? {})) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), content);
  }
  const config = configSchema.parse(options.config ?? {});
  return {
    workspace,
    home,
    session: "test",
    guard: await guardOf(config, workspace, home),
    config,
    atLeast: {},
    backend: options.backend ?? NO_BACKEND,
    files: new FileTracker({ warnAfter: config.files.re_read_warn, stopAfter: config.files.re_read_stop }),
    credentials: new CredentialFiles(home, hostFiles),
    declared: new Set(),
    env: options.env ?? { PATH: process.env.PATH },
  };
}

async function guardOf(config: ConfigFile, workspace: string, home: string) {
  return hostGuard({ ...(await optionsOf({ config, atLeast: {} })), workspace, home });
}

export function callOf(intent: ToolIntent, more: Partial<ToolCall> = {}): ToolCall {
  return {
    id: "1",
    signal: new AbortController().signal,
    digest: intent.digest,
    approved: [],
    givesStdin: false,
    started: () => {},
    output: () => {},
    callTool: () => Promise.reject(new Error("no other tools here")),
    ...more,
  };
}

/** Judged and run, as the toolbox does it; questions are answered with yes when `approve` is set. */
export async function perform<I, O extends object>(
  tool: Tool<I, O>,
  input: unknown,
  world: ToolContext,
  { approve = false, ...more }: Partial<ToolCall> & { approve?: boolean } = {},
): Promise<O> {
  const asked = tool.input.parse(input);
  const intent = await tool.judge(asked, world);
  const approved = approve ? intent.findings.filter((f) => f.action === "ask").map((f) => f.rule) : [];
  return tool.run(asked, callOf(intent, { approved, ...more }), world);
}
