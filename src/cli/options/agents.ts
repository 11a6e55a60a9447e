import type { Command } from "commander";
import type { Thread } from "../../session/thread.js";
import { exit } from "../views/output.js";
import { collectPolicies } from "./policy-file.js";
import { ASK_TIMEOUT, WORKSPACE } from "./run.js";

/** The commands that put third-party agents under HERMES. Their code is loaded on use. */
export function addAgentCommands(program: Command): void {
  program
    .command("hook")
    .description("judge one tool call as an agent's hook: reads the agent's JSON on stdin, answers on stdout")
    .argument("<agent>", "claude-code, codex or gemini")
    .option(
      "--workspace <folder>",
      "the folder that the agent may change (default: its project, or its current folder)",
    )
    .addHelpText(
      "after",
      `
Agents run this command; \`hermes install\` configures them. The answer to an allowed command makes the agent run it with \`hermes exec\`.

Example:
  echo '{"session_id":"1","transcript_path":"","cwd":"/tmp","permission_mode":"default","hook_event_name":"PreToolUse",
    "tool_name":"Bash","tool_input":{"command":"git push"},"tool_use_id":"1"}' | hermes hook claude-code

Exit status: 0 (no output means "no opinion"); 2 with a reason on stderr when the call cannot be judged, which agents
treat as a refusal.`,
    )
    // Never reached: main.ts runs the hook without loading this module.
    .action(() => process.exit(2));

  program
    .command("agents")
    .description("list the agents that HERMES knows: which are here, how to run each whole, and its hook")
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      `
A hook judges the agent's tool calls; \`hermes run\` holds the whole agent, its own actions included.

Examples:
  hermes agents
  hermes run -p claude-code --fence strict -- claude`,
    )
    .action(async (options) => exit((await import("../commands/agents.js")).agentsCommand(options)));

  program
    .command("install")
    .description("add the HERMES hook to an agent: it then asks HERMES before every tool call")
    .argument("[agent]", "claude-code, codex or gemini")
    .option("--all", "every agent that is found on the PATH and has a hook")
    .option("--project", "for the project in this folder (the default)")
    .option("--user", "for every project of this user")
    .option("--undo", "remove the hook")
    .option("--dry-run", "show what would change, and change nothing")
    .option("--json", "the result as JSON")
    .addHelpText(
      "after",
      `
Other settings of the agent stay unchanged. A backup is kept as FILE.before-hermes.

Examples:
  hermes install claude-code --dry-run
  hermes install claude-code
  hermes install --all
  hermes install codex --user
  hermes install claude-code --undo`,
    )
    .action(async (agent, options) =>
      exit(await (await import("../commands/install.js")).installCommand(agent, options)),
    );

  program
    .command("uninstall")
    .description("remove the HERMES hook from every agent, for this folder and this user")
    .option("--purge", "also remove the records and the configuration (hermes.yaml, approvals, audit)")
    .option("--dry-run", "show what would change, and change nothing")
    .option("--json", "the result as JSON")
    .action(async (options) =>
      exit(await (await import("../commands/uninstall.js")).uninstallCommand(options)),
    );
}

/** For people at a terminal: a shell to try policies, completions, the manual page. */
export function addShellCommands(program: Command, thread: Thread | undefined): void {
  program
    .command("shell")
    .description(
      "an interactive bash under policies, to try them; their questions are asked in this terminal",
    )
    .option(
      "-p, --policy <file>",
      "a policy file, or the name of one that comes with HERMES (agent); may be repeated",
      collectPolicies,
    )
    .option("-w, --workspace <folder>", WORKSPACE)
    .option("--fence <level>", "none, standard or strict: what holds without a policy", "standard")
    .option("--approvals <file>", "a policy file whose rules answer in advance")
    .option("--ask-timeout <time>", ASK_TIMEOUT)
    .option("-q, --quiet", "no greeting, and no summary at the end")
    .addHelpText(
      "after",
      `
Example:
  hermes shell -p policies/workspace.yaml

Exit status: that of the shell.`,
    )
    .action(async (options) => (await import("../commands/shell.js")).shellCommand(options, thread));

  program
    .command("completion")
    .description("print a completion script for a shell")
    .argument("<shell>", "bash, zsh or fish")
    .addHelpText(
      "after",
      `
Examples:
  source <(hermes completion bash)            in ~/.bashrc
  source <(hermes completion zsh)             in ~/.zshrc, behind compinit
  hermes completion fish | source             in ~/.config/fish/config.fish`,
    )
    .action(async (shell) =>
      exit(await (await import("../commands/completion.js")).completionCommand(shell, program)),
    );

  program
    .command("man")
    .description("print the manual page, for man")
    .addHelpText("after", "\nExample:\n  hermes man | man -l -")
    .action(async () => exit(await (await import("../commands/man.js")).manCommand(program)));
}
