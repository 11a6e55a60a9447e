import type { Command } from "commander";
import { PACKAGE_VERSION } from "../version.js";
import { all } from "./completion-bash.js";
import { print } from "./output.js";
import { type CommandNode, treeOf } from "./tree.js";

/** The manual page, from what the commands say of themselves. */
export async function manCommand(program: Command): Promise<number> {
  print(manualPage(treeOf(program)));
  return 0;
}

function manualPage(root: CommandNode): string {
  const commands = all(root).filter(({ children, path }) => path.length > 1 && children.length === 0);
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
    "a guard judges what agents ask for before it is done.",
    ".SH COMMANDS",
    ...commands.flatMap(sectionOf),
    ".SH EXIT STATUS",
    "That of the program that was run (128+n when signal n ended it);",
    "124 when its time was over, 125 when HERMES itself failed, 126 when it was refused or cannot be executed,",
    "127 when it is not found, 2 for wrong usage. Commands say more about their own.",
    ".SH ENVIRONMENT",
    ...item("HERMES_HOME", "The folder of hermes.yaml and of what HERMES remembers."),
    ...item("HERMES_STORE", "Where approvals and the audit are kept: a file, or postgres://HOST/DATABASE."),
    ...item("NO_COLOR", "No colours."),
    ".SH FILES",
    ...item(
      "~/.config/hermes/hermes.yaml",
      "Configuration of the guard; a project's hermes.yaml can only tighten it.",
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

/** As it is: backslashes, dashes that are typed, dots and quotes where roff takes them for itself, letters that it does not have. */
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
