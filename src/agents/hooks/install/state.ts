import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import type { AgentAdapter } from "../agent.js";
import { whyNotTrusted } from "./codex-trust.js";
import { ourHooks, switchedOff } from "./edit.js";
import { readSettings, switchedOffBeside } from "./install.js";
import { SETTINGS, type SettingsFolders, type SettingsScope } from "./settings.js";

export interface HookState {
  readonly agent: string;
  readonly scope: SettingsScope;
  readonly file: string;
  readonly installed: boolean;
  /** Undefined: the hook works. */
  readonly problem?: string;
}

/**
 * Whether an agent's hook works: configured, not turned off, trusted, and answering when it is run as the agent runs it.
 */
export async function hookState(
  agent: AgentAdapter,
  scope: SettingsScope,
  places: SettingsFolders,
): Promise<HookState> {
  const settings = SETTINGS[agent.name]!;
  const file = settings.file(scope, places);
  const common = { agent: agent.name, scope, file };
  if (!existsSync(file)) return { ...common, installed: false };
  const text = readSettings(file);
  const hooks = ourHooks(text, file, agent.name, settings);
  if (hooks.length === 0) return { ...common, installed: false };
  const off = switchedOff(text, file, settings) ?? switchedOffBeside(file, settings);
  const problem =
    off !== undefined
      ? `${off} turns hooks off`
      : ((agent.name === "codex" ? await whyNotTrusted(file, places) : undefined) ??
        tried(hooks[0]!, agent, places));
  return { ...common, installed: true, ...(problem !== undefined && { problem }) };
}

const PATIENCE_MS = 60_000;

/** Runs the hook with a harmless command. */
function tried(
  command: string,
  { events, tools }: AgentAdapter,
  { project, env }: SettingsFolders,
): string | undefined {
  const [event] = Object.entries(events).find(([, moment]) => moment === "before")!;
  const [tool] = Object.entries(tools).find(([, { does }]) => does === "command")!;
  const input = JSON.stringify({
    session_id: "doctor",
    cwd: project,
    hook_event_name: event,
    tool_name: tool,
    tool_input: { command: "true" },
  });
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", command], {
    input,
    cwd: project,
    env: { ...env },
    encoding: "utf8",
    timeout: PATIENCE_MS,
  });
  if (status !== 0) return `it fails, so every tool call is refused: ${stderr.trim().split("\n")[0]}`;
  return stdout.includes(" exec ") ? undefined : "its answer does not put commands under hermes exec";
}
