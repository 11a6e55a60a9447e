import type { Command } from "commander";
import type { Thread } from "../session/thread.js";
import { exit } from "./output.js";
import { collectPolicies } from "./policy-word.js";

/** The commands by which agents of others are put under HERMES: loaded when one is used. */
export function addAgentCommands(program: Command): void {
  program
    .command("hook")
    .description("judge one tool call of an agent, as its hook: its JSON on stdin, its answer on stdout")
    .argument("<agent>", "claude-code, codex or gemini")
    .option("--workspace <folder>", "what the agent may change (default: its project, else where it works)")
    .addHelpText(
      "after",
      `
Agents run this; \`hermes install\` tells them to. An allowed command is answered with one that runs it by \`hermes exec\`.

Example:
  echo '{"session_id":"1","transcript_path":"","cwd":"/tmp","permission_mode":"default","hook_event_name":"PreToolUse",
    "tool_name":"Bash","tool_input":{"command":"git push"},"tool_use_id":"1"}' | hermes hook claude-code

Exit status: 0 with an answer, or without one when there is nothing to say; 2 with a reason on stderr when it cannot be
judged, which the agents take as a no.`,
    )
    // Never reached: main.ts runs it without loading any of this.
    .action(() => process.exit(2));

  program
    .command("install")
    .description("tell an agent to ask HERMES before it uses a tool")
    .argument("<agent>", "claude-code, codex or gemini")
    .option("--project", "for the project in this folder (the default)")
    .option("--user", "for every project of this user")
    .option("--undo", "take it out again")
    .option("--dry-run", "show what would change, and change nothing")
    .option("--json", "what was done as JSON")
    .addHelpText(
      "after",
      `
The agent's settings stay as they are otherwise, and are kept beside as FILE.before-hermes.

Examples:
  hermes install claude-code --dry-run
  hermes install claude-code
  hermes install codex --user
  hermes install claude-code --undo`,
    )
    .action(async (agent, options) =>
      exit(await (await import("./install.js")).installCommand(agent, options)),
    );
}

/** For people at a terminal: a shell to try policies in, completions, the manual page. */
export function addShellCommands(program: Command, thread: Thread | undefined): void {
  program
    .command("shell")
    .description("an interactive bash under policies, to try them; what they ask about is asked here")
    .option(
      "-p, --policy <file>",
      "a policy file, or the name of one that comes with HERMES (agent); may be repeated",
      collectPolicies,
    )
    .option("--fence <level>", "none, standard or strict: what holds without a policy", "standard")
    .option("--approvals <file>", "answers for always: a policy file, written when somebody answers so")
    .option("--ask-timeout <time>", "silence for so long is a no, e.g. 30s or 5m", "60s")
    .option("-q, --quiet", "no greeting, and no summary at the end")
    .addHelpText(
      "after",
      `
Example:
  hermes shell -p policies/workspace.yaml

Exit status: that of the shell.`,
    )
    .action(async (options) => (await import("./shell.js")).shellCommand(options, thread));

  program
    .command("completion")
    .description("completion for a shell")
    .argument("<shell>", "bash, zsh or fish")
    .addHelpText(
      "after",
      `
Examples:
  source <(hermes completion bash)            in ~/.bashrc
  source <(hermes completion zsh)             in ~/.zshrc, behind compinit
  hermes completion fish | source             in ~/.config/fish/config.fish`,
    )
    .action(async (shell) => exit(await (await import("./completion.js")).completionCommand(shell, program)));

  program
    .command("man")
    .description("the manual page, for man")
    .addHelpText("after", "\nExample:\n  hermes man | man -l -")
    .action(async () => exit(await (await import("./man.js")).manCommand(program)));
}
