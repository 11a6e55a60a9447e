import { homedir } from "node:os";
import { AGENTS } from "../../agents/hooks/agents.js";
import { answerHook } from "../../agents/hooks/hook.js";
import { readCall } from "../../agents/hooks/read.js";
import { loadConfig } from "../../intent/guard/config/load.js";
import { openStore } from "../../record/store/open.js";
import type { OpenStore } from "../resident/open-store.js";

interface Judged {
  readonly answer: object | undefined;
  /** Whether hermes.yaml lets a resident process answer (docs/explanation/resident.md). */
  readonly mayReside: boolean;
}

/** Judges in this process; a separate bundle, loaded only for this. */
export async function judgeInProcess(
  name: string,
  text: string,
  workspace: string | undefined,
): Promise<Judged> {
  const { agent, call, mayReside } = read(name, text, workspace);
  // Never closed: records are durable, and this process ends with the answer.
  return { answer: await answerHook(call, agent, await openStore()), mayReside };
}

/** Judges in a process that goes on, with a store that it keeps. Undefined: hermes.yaml forbids it. */
export async function judgeForCaller(
  name: string,
  text: string,
  workspace: string | undefined,
  stores: OpenStore,
): Promise<Pick<Judged, "answer"> | undefined> {
  const { agent, call, mayReside } = read(name, text, workspace);
  return mayReside
    ? stores.use(async (store) => ({ answer: await answerHook(call, agent, store) }))
    : undefined;
}

function read(name: string, text: string, workspace: string | undefined) {
  const agent = AGENTS.find((one) => one.name === name)!;
  const call = readCall(text, agent, process.env, workspace);
  const places = { workspace: call.workspace.folder, home: homedir(), env: process.env };
  return { agent, call, mayReside: loadConfig(places).config.resident === "auto" };
}
