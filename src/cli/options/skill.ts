import type { Command } from "commander";
import { exit } from "../views/output.js";

const HOME = ["--home <folder>", "the folder of skills (default: $HERMES_HOME or ~/.hermes)"] as const;

/** The skill commands. Their code is loaded on use. */
export function addSkillCommands(program: Command): void {
  const skill = program.command("skill").description("scan and install skills for agents");
  skill
    .command("scan")
    .description("judge a skill's instructions and scripts; exits 0 for allow, 3 for ask, 4 for deny")
    .argument("<folder>", "a folder with a SKILL.md")
    .option("--source <source>", "the skill's origin, e.g. github.com/someone/skills")
    .option("--json", "as JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (folder, options) =>
      exit(await (await import("../commands/skill.js")).skillScanCommand(folder, options)),
    );
  skill
    .command("install")
    .description("scan a skill and install it; a skill that does not pass goes to quarantine")
    .argument("<folder>", "a folder with a SKILL.md")
    .option("--name <name>", "the skill's name (default: the folder's name)")
    .option("--source <source>", "the skill's origin, e.g. github.com/someone/skills")
    .option(...HOME)
    .option("--json", "as JSON")
    .action(async (folder, options) =>
      exit(await (await import("../commands/skill.js")).skillInstallCommand(folder, options)),
    );
  skill
    .command("list")
    .description("list installed skills and those in quarantine")
    .option(...HOME)
    .option("--json", "as JSON")
    .action(async (options) => exit(await (await import("../commands/skill.js")).skillListCommand(options)));
  skill
    .command("review")
    .description("show the findings of skills in quarantine")
    .argument("[id]")
    .option(...HOME)
    .option("--json", "as JSON")
    .action(async (id, options) =>
      exit(await (await import("../commands/skill.js")).skillReviewCommand(id, options)),
    );
  skill
    .command("approve")
    .description("install a skill from quarantine, exactly as scanned")
    .argument("<id>")
    .option(...HOME)
    .option("--json", "as JSON")
    .action(async (id, options) =>
      exit(await (await import("../commands/skill.js")).skillApproveCommand(id, options)),
    );
  skill
    .command("reject")
    .description("delete a skill from quarantine")
    .argument("<id>")
    .option(...HOME)
    .action(async (id, options) =>
      exit(await (await import("../commands/skill.js")).skillRejectCommand(id, options)),
    );
}

const EXAMPLES = `
Examples:
  hermes skill scan ./pdf-tools
  hermes skill install ./pdf-tools --source github.com/someone/skills
  hermes skill review && hermes skill approve pdf-tools-1a2b3c4d5e6f`;
