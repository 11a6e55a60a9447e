import type { Command } from "commander";
import { bashCompletion } from "./completion-bash.js";
import { fishCompletion } from "./completion-fish.js";
import { zshCompletion } from "./completion-zsh.js";
import { print } from "./output.js";
import { treeOf } from "./tree.js";
import { choice } from "./values.js";

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export async function completionCommand(shell: string, program: Command): Promise<number> {
  const name = choice("completion", shell, Object.keys(SHELLS) as (keyof typeof SHELLS)[]);
  print(SHELLS[name](treeOf(program)));
  return 0;
}
