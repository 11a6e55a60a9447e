import type { Command } from "commander";
import { PACKAGE_VERSION } from "../../nouns/version.js";
import { type CommandNode, commandTree } from "../options/command-tree.js";
import { allCommands } from "../views/completion-bash.js";
import { print } from "../views/output.js";

/** The manual page, generated from the commands' descriptions. */
export async function manCommand(program: Command): Promise<number> {
  print(manualPage(commandTree(program)));
  return 0;
}

function manualPage(root: CommandNode): string {
  const commands = allCommands(root).filter(({ children, path }) => path.length > 1 && children.length === 0);
  return `${[
    `.TH HERMES 1 "" "hermes ${PACKAGE_VERSION}" "User Commands"`,
    ".nh",
    ".ad l",
    ".SH NAME",
    `hermes \\- ${plain("run programs and agents under a policy, at the kernel boundary")}`,
    ".SH SYNOPSIS",
    ".B hermes",
    ".I command",
    "[\\fIoptions\\fR] [\\fIarguments\\fR]",
    ".SH DESCRIPTION",
    plain(root.description),
    "A policy is a file of rules in YAML, Lua or TypeScript;",
    "a guard judges what agents want to do before they do it.",
    ".SH COMMANDS",
    ...commands.flatMap(sectionOf),
    ".SH EXIT STATUS",
    "The program's status (128+n when signal n ended it);",
    "124 after a timeout, 125 when HERMES itself failed, 126 when the program was refused or cannot be executed,",
    "127 when it is not found, 2 for wrong usage. Some commands document further statuses.",
    ".SH ENVIRONMENT",
    ...item("HERMES_HOME", "The folder of hermes.yaml, skills and memory."),
    ...item("HERMES_STORE", "The store of approvals and the audit: a file, or postgres://HOST/DATABASE."),
    ...item("NO_COLOR", "No colours."),
    ".SH FILES",
    ...item(
      "~/.config/hermes/hermes.yaml",
      "Configuration of the guard; a project's hermes.yaml can only make it stricter.",
    ),
    ...item("~/.local/state/hermes/hermes.db", "Approvals, tool calls and the audit."),
  ].join("\n")}\n`;
}

function sectionOf({ path, description, options, arguments: taken, notes }: CommandNode): string[] {
  const usage = [path.join(" "), "[options]", ...taken.map((argument) => argument.usage)].join(" ");
  return [
    `.SS "${plain(usage).replaceAll('"', "\\(dq")}"`,
    plain(sentence(description)),
    ...taken.filter((one) => one.description !== "").flatMap((one) => item(one.usage, one.description)),
    ...options.flatMap((option) => item(option.flags, option.description)),
    ...(notes === "" ? [] : [".PP", ".nf", ...notes.split("\n").map(plain), ".fi"]),
  ];
}

function item(name: string, text: string): string[] {
  return [".TP", `.B ${plain(name)}`, plain(text)];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

/** Escapes for roff: backslashes, dashes that are typed, leading dots and quotes, characters outside its charset. */
function plain(text: string): string {
  return text
    .replaceAll("…", "...")
    .replace(/[“”]/g, '"')
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("`", "\\`")
    .replaceAll("'", "\\(aq")
    .replaceAll("~", "\\(ti")
    .replaceAll("^", "\\(ha")
    .replace(/^\./gm, "\\&.")
    .replace(
      /[^\x20-\x7e\n]/gu,
      (letter) => `\\[u${letter.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}]`,
    );
}
