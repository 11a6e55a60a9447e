import { AGENTS } from "../hooks/agents.js";
import { answerHook } from "../hooks/hook.js";
import { readCall } from "../hooks/read.js";
import { openStore } from "../store/open.js";

/** The hook's work in its own process: what is loaded for it is a bundle of its own. */
export async function judgeHere(
  name: string,
  text: string,
  workspace: string | undefined,
): Promise<object | undefined> {
  const agent = AGENTS.find((one) => one.name === name)!;
  const call = readCall(text, agent, process.env, workspace);
  // Never closed: what was recorded is on disk, and this process ends with the answer.
  return answerHook(call, agent, await openStore());
}
