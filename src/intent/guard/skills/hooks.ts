import type { Action } from "../finding.js";

/** What makes a file of a skill run without a request. */
interface Hook {
  /** Matches the path. */
  readonly file: RegExp;
  /** Matches the text; the first group is what would run. */
  readonly text: RegExp;
  /** Commands that run in good faith. */
  readonly unless?: RegExp;
  readonly action: Action;
  readonly reason: string;
}

/** Usual build steps of packages. */
const ORDINARY =
  /^(?:husky(?: install)?|is-ci \|\| husky\S*|node-gyp(?:-build)?(?: rebuild)?|patch-package|(?:npm|pnpm|yarn|bun)(?: run)? (?:build|compile|prepare|rebuild)\S*|tsc(?: -[\w. -]+)?|prisma generate|(?:npx )?playwright install\S*(?: \w+)?|electron-builder install-app-deps|lefthook install|simple-git-hooks|opencollective\S*(?: \|\| (?:true|exit 0))?|echo [^;&|$`]*|true)$/;

const HOOKS: readonly Hook[] = [
  {
    file: /(?:^|\/)package\.json$/,
    text: /"(?:pre|post)?install"\s{0,4}:\s{0,4}"((?:[^"\\\n]|\\.){1,400})"/g,
    unless: ORDINARY,
    action: "ask",
    reason: "Installing this package runs its own command",
  },
  {
    file: /(?:^|\/)setup\.py$/,
    text: /\b(cmdclass)\s{0,4}=/g,
    action: "ask",
    reason: "Installing this package runs its own code",
  },
  {
    file: /(?:^|\/)\.vscode\/tasks\.json$/,
    text: /"runOn"\s{0,4}:\s{0,4}"(folderOpen)"/g,
    action: "deny",
    reason: "Opening the folder in an editor runs a command",
  },
  {
    file: /\.pth$/,
    text: /^(import\b[^\n]{1,200})/gm,
    action: "deny",
    reason: "Every start of Python runs this",
  },
  {
    file: /(?:^|\/)(?:sitecustomize|usercustomize)\.py$/,
    text: /(\w)/g,
    action: "deny",
    reason: "Every start of Python runs this",
  },
  {
    file: /(?:^|\/)(?:\.claude\/settings(?:\.local)?\.json|hooks\/hooks\.json|\.cursor\/hooks\.json|\.codex\/hooks\.json)$/,
    text: /"(hooks)"\s{0,4}:/g,
    action: "ask",
    reason: "This registers commands that the agent's client runs automatically",
  },
  {
    file: /(?:^|\/)(?:\.mcp|mcp|mcp_settings|claude_desktop_config)\.json$/,
    text: /"(mcpServers|servers)"\s{0,4}:/g,
    action: "ask",
    reason: "This registers servers that the agent's client starts automatically",
  },
];

/** The first thing in a file that would run automatically. */
export function hookIn(path: string, text: string) {
  for (const { file, text: pattern, unless, action, reason } of HOOKS) {
    if (!file.test(path)) continue;
    for (const match of text.matchAll(pattern))
      if (!unless?.test(match[1]!))
        return {
          action,
          reason: `${path}: ${reason}.`,
          start: match.index,
          end: match.index + match[0].length,
        };
  }
  return undefined;
}
