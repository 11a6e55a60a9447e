import type { Command } from "commander";
import { commandTree } from "../options/command-tree.js";
import { choice } from "../options/values.js";
import { bashCompletion } from "../views/completion-bash.js";
import { fishCompletion } from "../views/completion-fish.js";
import { zshCompletion } from "../views/completion-zsh.js";
import { print } from "../views/output.js";

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export async function completionCommand(shell: string, program: Command): Promise<number> {
  const name = choice("completion", shell, Object.keys(SHELLS) as (keyof typeof SHELLS)[]);
  print(SHELLS[name](commandTree(program)));
  return 0;
}
