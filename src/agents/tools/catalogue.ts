import { HermesError } from "../../nouns/errors.js";
import type { Background } from "./terminal/background.js";
import type { Tool } from "./tool.js";

interface Agent {
  readonly background: Background;
  /** The names of the tools that the agent has. */
  readonly own: () => readonly string[];
}

/** Every tool, in the order of the list that a model gets. The toolbox loads a tool when its agent has it. */
const TOOLS: Readonly<Record<string, (agent: Agent) => Promise<unknown>>> = {
  terminal_exec: async ({ background }) => (await import("./terminal/exec.js")).terminalExec(background),
  terminal_process: async ({ background }) =>
    (await import("./terminal/background.js")).terminalProcess(background),
  read_file: async () => (await import("./files/read.js")).readFile,
  write_file: async () => (await import("./files/write.js")).writeFile,
  patch: async () => (await import("./files/patch.js")).patch,
  list_files: async () => (await import("./files/list.js")).listFiles,
  search_files: async () => (await import("./files/search.js")).searchFiles,
  fetch_url: async () => (await import("./fetch/fetch.js")).fetchUrl,
  python_rpc: async () => (await import("./python/rpc.js")).pythonRpc,
  memory_write: async () => (await import("./memory/write.js")).memoryWrite,
  skill_install: async () => (await import("./skill/install.js")).skillInstall,
  skill_use: async () => (await import("./skill/use.js")).skillUse,
  delegate: async ({ own }) => (await import("./delegate/delegate.js")).delegateTask(own),
};

/** The tools of an agent by name: all of them, or `only` these. */
export async function loadTools(
  background: Background,
  only: readonly string[] | undefined,
): Promise<ReadonlyMap<string, Tool>> {
  const unknown = only?.find((name) => !Object.hasOwn(TOOLS, name));
  if (unknown !== undefined) throw new HermesError("USAGE", { message: `there is no tool ${unknown}` });
  const own = () => [...tools.keys()];
  const names = Object.keys(TOOLS).filter((name) => !only || only.includes(name));
  const tools = new Map<string, Tool>();
  for (const name of names) tools.set(name, (await TOOLS[name]!({ background, own })) as Tool);
  return tools;
}
