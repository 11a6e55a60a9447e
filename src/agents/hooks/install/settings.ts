import { join } from "node:path";
import { HOME } from "../../../nouns/home.js";
import { RUNNER, shellQuoted } from "../wrap.js";

export type SettingsScope = "project" | "user";

export interface SettingsFolders {
  readonly project: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Where and how an agent's hooks are configured. All three have `hooks.EVENT[{ matcher, hooks: [{ type, command }] }]`. */
export interface AgentSettings {
  file(scope: SettingsScope, places: SettingsFolders): string;
  /** The file may contain comments. */
  readonly comments: boolean;
  /** The event, and a pattern for tools; without a pattern: all tools. */
  readonly events: readonly { readonly event: string; readonly matcher?: string }[];
  /** Permission rules that allow our own parts of a command, so that the user's rules decide on the rest. */
  readonly allows?: {
    readonly path: readonly string[];
    readonly rules: readonly string[];
    readonly ours: RegExp;
  };
  /** The agent's timeout for the hook, in its own unit: longer than the hook ever takes. */
  readonly timeout: number;
  /** Settings that turn all hooks off. */
  readonly off: readonly { readonly path: readonly string[]; readonly value: boolean }[];
  /** The same in a second file. */
  readonly switches?: { readonly file: string; readonly off: RegExp };
  /** What the user has to do besides. */
  readonly next?: string;
}

const OUTSIDERS = "WebFetch|WebSearch|Grep|mcp__.*";

export const SETTINGS: Readonly<Record<string, AgentSettings>> = {
  "claude-code": {
    // A project's settings.json is shared; the path of hermes on this machine is not.
    file: (scope, { project, home, env }) =>
      scope === "project"
        ? join(project, ".claude/settings.local.json")
        : join(env.CLAUDE_CONFIG_DIR || join(home, ".claude"), "settings.json"),
    comments: false,
    events: [
      { event: "PreToolUse", matcher: "*" },
      { event: "PermissionRequest", matcher: "*" },
      { event: "PostToolUse", matcher: OUTSIDERS },
    ],
    allows: {
      path: ["permissions", "allow"],
      rules: [`Bash(${RUNNER} exec:*)`, "Bash(exit)"],
      ours: /^Bash\((?:'?.*\/hermes'? exec:\*|exit)\)$/,
    },
    timeout: 60,
    off: [{ path: ["disableAllHooks"], value: true }],
    next: "Claude Code reads it when a session starts; /hooks shows it.",
  },
  codex: {
    file: (scope, { project, home, env }) =>
      join(
        scope === "project" ? join(project, ".codex") : env.CODEX_HOME || join(home, ".codex"),
        "hooks.json",
      ),
    comments: false,
    events: [
      { event: "PreToolUse" },
      { event: "PermissionRequest" },
      { event: "PostToolUse", matcher: OUTSIDERS },
    ],
    timeout: 60,
    off: [],
    switches: { file: "config.toml", off: /(?<=^[ \t]*)(?:codex_)?hooks[ \t]*=[ \t]*false/m },
  },
  gemini: {
    file: (scope, { project, home }) => join(scope === "project" ? project : home, ".gemini/settings.json"),
    comments: true,
    events: [
      { event: "BeforeTool", matcher: ".*" },
      { event: "AfterTool", matcher: ".*" },
    ],
    timeout: 60_000,
    off: [
      { path: ["hooksConfig", "enabled"], value: false },
      { path: ["hooks", "enabled"], value: false },
      { path: ["tools", "enableHooks"], value: false },
    ],
    next: "Gemini CLI reads it when it starts; /hooks shows it.",
  },
};

/** Seconds: less than any agent's timeout, and more than the hook's own. */
const PATIENCE_S = 40;

/**
 * The hook command. If the hook is missing, broken, killed or stuck, the agent must stop. But agents continue after any
 * status except 2, some even after a 2 without a message, and all of them after a timeout. So the command line itself ends
 * with a refusal.
 */
export function hookCommandOf(agent: string): string {
  const patience = `command -v timeout >/dev/null && set -- timeout -k 1 ${PATIENCE_S}`;
  const refusal = `{ echo 'HERMES did not allow this: it refused the call, or failed to judge it.' >&2; exit 2; }`;
  return `${patience}; "$@" ${shellQuoted(`${HOME}hermes`)} hook ${agent} || ${refusal}`;
}

/** Written by us, maybe from another folder or by an older version. */
export function isOurs(command: unknown, agent: string): boolean {
  return typeof command === "string" && command.includes(`/hermes' hook ${agent} || `);
}
