import { AGENTS } from "../../agents/hooks/agents.js";
import { answerHook } from "../../agents/hooks/hook.js";
import { readCall } from "../../agents/hooks/read.js";
import { openStore } from "../../record/store/open.js";

/** Judges in the hook's own process; a separate bundle, loaded only for this. */
export async function judgeInProcess(
  name: string,
  text: string,
  workspace: string | undefined,
): Promise<object | undefined> {
  const agent = AGENTS.find((one) => one.name === name)!;
  const call = readCall(text, agent, process.env, workspace);
  // Never closed: records are durable, and this process ends with the answer.
  return answerHook(call, agent, await openStore());
}
