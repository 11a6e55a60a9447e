import type { Command } from "commander";
import { exit } from "./output.js";

const HOME = ["--home <folder>", "where skills live (default: $HERMES_HOME or ~/.hermes)"] as const;

/** The commands for skills; what they do is loaded when one is used. */
export function addSkillCommands(program: Command): void {
  const skill = program
    .command("skill")
    .description("install skills for agents, after a look at what is in them");
  skill
    .command("scan")
    .description("judge a skill's instructions and scripts; exits 0 to allow, 3 to ask, 4 to deny")
    .argument("<folder>", "a folder with a SKILL.md")
    .option("--source <source>", "where it is from, e.g. github.com/someone/skills")
    .option("--json", "as JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (folder, options) => exit(await (await import("./skill.js")).scanCommand(folder, options)));
  skill
    .command("install")
    .description("scan a skill and put it in place in one step; what does not pass goes to quarantine")
    .argument("<folder>", "a folder with a SKILL.md")
    .option("--name <name>", "what to call it (default: the folder's name)")
    .option("--source <source>", "where it is from, e.g. github.com/someone/skills")
    .option(...HOME)
    .option("--json", "as JSON")
    .action(async (folder, options) =>
      exit(await (await import("./skill.js")).installCommand(folder, options)),
    );
  skill
    .command("list")
    .description("installed skills, and those in quarantine")
    .option(...HOME)
    .option("--json", "as JSON")
    .action(async (options) => exit(await (await import("./skill.js")).listCommand(options)));
  skill
    .command("review")
    .description("what was found in skills that wait in quarantine")
    .argument("[id]")
    .option(...HOME)
    .option("--json", "as JSON")
    .action(async (id, options) => exit(await (await import("./skill.js")).reviewCommand(id, options)));
  skill
    .command("approve")
    .description("install a skill from quarantine as it was scanned")
    .argument("<id>")
    .option(...HOME)
    .option("--json", "as JSON")
    .action(async (id, options) => exit(await (await import("./skill.js")).approveCommand(id, options)));
  skill
    .command("reject")
    .description("delete a skill from quarantine")
    .argument("<id>")
    .option(...HOME)
    .action(async (id, options) => exit(await (await import("./skill.js")).rejectCommand(id, options)));
}

const EXAMPLES = `
Examples:
  hermes skill scan ./pdf-tools
  hermes skill install ./pdf-tools --source github.com/someone/skills
  hermes skill review && hermes skill approve pdf-tools-1a2b3c4d5e6f`;
