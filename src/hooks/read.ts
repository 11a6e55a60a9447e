import { isAbsolute, relative, resolve } from "node:path";
import type { Agent, HookCall } from "./agent.js";

/** A hook's input that is not what the agent's contract says. */
export class UnreadableInput extends Error {}

/** What the agent wrote on our stdin; throws when it is anything else than its contract says. */
export function readCall(text: string, agent: Agent, env: NodeJS.ProcessEnv, workspace?: string): HookCall {
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
    workspace: resolve(workspace ?? projectOf(agent, env, cwd)),
    session: textAt(value, "session_id"),
    attended: agent.asks(value, env),
    ...(moment === "after" && { response }),
  };
}

/** Where the agent was started, as it tells; an agent that does not tell works where it is. */
function projectOf({ project }: Agent, env: NodeJS.ProcessEnv, cwd: string): string {
  const folder = project === undefined ? undefined : env[project];
  return folder !== undefined && isAbsolute(folder) ? folder : cwd;
}

export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (!way.startsWith("../") && way !== ".." && !isAbsolute(way));
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
    throw new UnreadableInput(`${key} must be a text`);
  return found;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
