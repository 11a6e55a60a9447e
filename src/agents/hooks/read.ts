import { isAbsolute, resolve } from "node:path";
import { workspaceOf } from "../../nouns/workspace.js";
import type { AgentAdapter, HookCall } from "./agent.js";

/** A hook input that violates the agent's contract. */
export class UnreadableInput extends Error {}

/** Parses the agent's JSON from stdin; throws when it violates the agent's contract. */
export function readCall(
  text: string,
  agent: AgentAdapter,
  env: NodeJS.ProcessEnv,
  workspace?: string,
): HookCall {
  const value = parsed(text);
  const event = textAt(value, "hook_event_name");
  const moment = Object.hasOwn(agent.events, event) ? agent.events[event] : undefined;
  if (moment === undefined) throw new UnreadableInput(`${agent.name} has no event ${JSON.stringify(event)}`);
  const { tool_input: input, tool_response: response } = value;
  if (!isObject(input)) throw new UnreadableInput("tool_input must be an object");
  const cwd = textAt(value, "cwd");
  if (!isAbsolute(cwd)) throw new UnreadableInput("cwd must be an absolute path");
  return {
    event,
    moment,
    tool: textAt(value, "tool_name"),
    input,
    cwd: resolve(cwd),
    workspace: workspaceOf(projectOf(agent, env, cwd), workspace, env),
    session: textAt(value, "session_id"),
    hasUser: agent.asks(value, env),
    ...(moment === "after" && { response }),
  };
}

/** The project folder that the agent reports; otherwise its current directory. */
function projectOf({ project }: AgentAdapter, env: NodeJS.ProcessEnv, cwd: string): string {
  const folder = project === undefined ? undefined : env[project];
  return folder !== undefined && isAbsolute(folder) ? folder : cwd;
}

function parsed(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UnreadableInput(`the input is not JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw new UnreadableInput("the input must be an object");
  return value;
}

function textAt(value: Record<string, unknown>, key: string): string {
  const found = value[key];
  if (typeof found !== "string" || found === "" || found.includes("\0"))
    throw new UnreadableInput(`${key} must be a string`);
  return found;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
