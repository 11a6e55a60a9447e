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

/** What a hook call ends with. */
export interface HookOutcome {
  readonly status: 0 | typeof BLOCKED;
  readonly stdout: string;
  readonly stderr: string;
}

interface HookWords {
  readonly agent: string;
  readonly workspace: string | undefined;
  /** Start a resident process afterwards (docs/explanation/resident.md). */
  readonly startsResident: boolean;
}

/** `hermes hook AGENT [--workspace FOLDER]`. Fails closed: every error is a refusal, with nothing on stdout. */
export async function hookCommand(words: readonly string[]): Promise<never> {
  // Also errors outside any awaited promise.
  process.on("uncaughtException", (error) => end(refusal(error)));
  process.on("unhandledRejection", (error) => end(refusal(error)));
  let mayReside = false;
  const outcome = await hookOutcome(words, readInput, async ({ agent, workspace }, text) => {
    const warm = await askConsole(agent, text, workspace);
    if (warm) return warm.answer ?? undefined;
    const judged = await (await import("./hook-judge.js")).judgeInProcess(agent, text, workspace);
    mayReside = judged.mayReside;
    return judged.answer;
  });
  if (mayReside && words.includes(START_RESIDENT))
    await import("../resident/start.js").then(({ startResident }) => startResident()).catch(() => {});
  return end(outcome);
}

/** The outcome of a call whose answer `judge` gives. Never throws. */
export async function hookOutcome(
  words: readonly string[],
  read: () => Uint8Array,
  judge: (words: HookWords, text: string) => Promise<object | undefined>,
): Promise<HookOutcome> {
  try {
    const about = hookWords(words);
    const answer = await judge(about, textOf(read()));
    return { status: 0, stdout: answer === undefined ? "" : `${JSON.stringify(answer)}\n`, stderr: "" };
  } catch (error) {
    return refusal(error);
  }
}

/** A running console answers, as it has everything loaded. */
async function askConsole(agent: string, text: string, workspace: string | undefined) {
  const names = ["HERMES_WORKSPACE", ...(AGENTS.get(agent) ?? [])];
  const env = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  const warm = await askHookServer(
    { agent, text, env, ...(workspace !== undefined && { workspace }) },
    process.env,
  );
  if (warm && "refused" in warm) throw new Error(warm.refused);
  return warm;
}

/** hermes-resident adds it where no resident process listens and one may be started. */
const START_RESIDENT = "--start-resident";
/** hermes-resident has obeyed it before Node starts. */
const NO_RESIDENT = "--no-resident";

function hookWords([agent = "", ...given]: readonly string[]): HookWords {
  if (!AGENTS.has(agent))
    throw new Error(`hermes hook takes one of ${[...AGENTS.keys()].join(", ")}, not "${agent}"`);
  const startsResident = given.at(-1) === START_RESIDENT;
  const rest = given.filter((word) => word !== NO_RESIDENT && word !== START_RESIDENT);
  const [option, workspace, ...more] = rest;
  if (option === undefined) return { agent, workspace: undefined, startsResident };
  if (option !== "--workspace" || workspace === undefined || more.length > 0)
    throw new Error(`unknown option ${rest.join(" ")}`);
  return { agent, workspace, startsResident };
}

function readInput(): Uint8Array {
  if (fstatSync(0).size > LONGEST_INPUT) throw new Error("the input is too long to be judged");
  return readFileSync(0);
}

function textOf(bytes: Uint8Array): string {
  if (bytes.length > LONGEST_INPUT) throw new Error("the input is too long to be judged");
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

function refusal(error: unknown): HookOutcome {
  const message = error instanceof Error ? error.message : String(error);
  const stderr = `HERMES refuses this because it cannot judge it: ${escapeControl(message).slice(0, 2000)}\n`;
  return { status: BLOCKED, stdout: "", stderr };
}

function end({ status, stdout, stderr }: HookOutcome): never {
  try {
    write(2, stderr);
    write(1, stdout);
  } catch (error) {
    // A refusal needs no reason: the exit status is enough.
    if (status === 0) end(refusal(error));
  }
  process.exit(status);
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
