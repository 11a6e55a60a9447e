import { fstatSync, readFileSync, writeSync } from "node:fs";
import { askHookServer } from "../../agents/hooks/hook-socket.js";
import { escapeControl } from "../../nouns/text.js";

/** Each agent with the environment variables that it sets. Everything else about agents is loaded when needed. */
const AGENTS = new Map<string, readonly string[]>([
  ["claude-code", ["CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SESSION_ATTENDED"]],
  ["codex", []],
  ["gemini", ["GEMINI_PROJECT_DIR"]],
]);

/**
 * The exit status that every agent takes as a refusal, with the reason on stderr. Agents ignore hooks with other statuses.
 */
const BLOCKED = 2;
const LONGEST_INPUT = 64 * 1024 * 1024;

/** `hermes hook AGENT [--workspace FOLDER]`. Fails closed: every error is a refusal, with nothing on stdout. */
export async function hookCommand(words: readonly string[]): Promise<never> {
  // Also errors outside any awaited promise.
  process.on("uncaughtException", block);
  process.on("unhandledRejection", block);
  try {
    const { agent, workspace } = argumentsOf(words);
    const answer = await answerTo(agent, readInput(), workspace);
    if (answer !== undefined) write(1, `${JSON.stringify(answer)}\n`);
    process.exit(0);
  } catch (error) {
    return block(error);
  }
}

/** A running console answers, as it has everything loaded; otherwise this process judges. */
async function answerTo(
  agent: string,
  text: string,
  workspace: string | undefined,
): Promise<object | undefined> {
  const names = ["HERMES_WORKSPACE", ...(AGENTS.get(agent) ?? [])];
  const env = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  const warm = await askHookServer(
    { agent, text, env, ...(workspace !== undefined && { workspace }) },
    process.env,
  );
  if (warm && "refused" in warm) throw new Error(warm.refused);
  if (warm) return warm.answer ?? undefined;
  return (await import("./hook-judge.js")).judgeInProcess(agent, text, workspace);
}

function argumentsOf([agent = "", ...rest]: readonly string[]) {
  if (!AGENTS.has(agent))
    throw new Error(`hermes hook takes one of ${[...AGENTS.keys()].join(", ")}, not "${agent}"`);
  const [option, workspace, ...more] = rest;
  if (option === undefined) return { agent, workspace: undefined };
  if (option !== "--workspace" || workspace === undefined || more.length > 0)
    throw new Error(`unknown option ${rest.join(" ")}`);
  return { agent, workspace };
}

function readInput(): string {
  if (fstatSync(0).size > LONGEST_INPUT) throw new Error("the input is too long to be judged");
  const bytes = readFileSync(0);
  if (bytes.length > LONGEST_INPUT) throw new Error("the input is too long to be judged");
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

function block(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  try {
    write(2, `HERMES refuses this because it cannot judge it: ${escapeControl(message).slice(0, 2000)}\n`);
  } catch {
    // stderr is closed; the exit status is enough.
  }
  process.exit(BLOCKED);
}

function write(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    }
  }
}
