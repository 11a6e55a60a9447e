import { delegateTask } from "./delegate/delegate.js";
import { fetchUrl } from "./fetch/fetch.js";
import { listFiles } from "./files/list.js";
import { patch } from "./files/patch.js";
import { readFile } from "./files/read.js";
import { searchFiles } from "./files/search.js";
import { writeFile } from "./files/write.js";
import { memoryWrite } from "./memory/write.js";
import { pythonRpc } from "./python/rpc.js";
import { skillInstall } from "./skill/install.js";
import { type Background, terminalProcess } from "./terminal/background.js";
import { terminalExec } from "./terminal/exec.js";
import type { Tool } from "./tool.js";

/** Every tool that there is, in the order in which a model is told of them; `own`: the names of those that the agent has. */
export function catalogue(background: Background, own: () => readonly string[]): readonly Tool[] {
  return [
    terminalExec(background),
    terminalProcess(background),
    readFile,
    writeFile,
    patch,
    listFiles,
    searchFiles,
    fetchUrl,
    pythonRpc,
    memoryWrite,
    skillInstall,
    delegateTask(own),
  ] as readonly unknown[] as readonly Tool[];
}
