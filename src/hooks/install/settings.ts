import { join } from "node:path";
import { HOME } from "../../home.js";
import { quoted, RUNNER } from "../wrap.js";

export type Scope = "project" | "user";

export interface Places {
  readonly project: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Where an agent's hooks are told of, and how. All three have `hooks.EVENT[{ matcher, hooks: [{ type, command }] }]`. */
export interface AgentSettings {
  file(scope: Scope, places: Places): string;
  /** It reads its file with comments in it. */
  readonly comments: boolean;
  /** Event and which tools; without a pattern: all. */
  readonly events: readonly { readonly event: string; readonly matcher?: string }[];
  /** Rules that let through the parts of a command that are ours, so that its user's own rules decide on the rest. */
  readonly allows?: {
    readonly path: readonly string[];
    readonly rules: readonly string[];
    readonly ours: RegExp;
  };
  /** How long it waits, in its own unit: longer than the hook ever takes. */
  readonly timeout: number;
  /** Settings with which it does not run hooks at all. */
  readonly off: readonly { readonly path: readonly string[]; readonly value: boolean }[];
  /** The same in a file beside it. */
  readonly switches?: { readonly file: string; readonly off: RegExp };
  /** What its user has to do besides. */
  readonly next?: string;
}

const OUTSIDERS = "WebFetch|WebSearch|Grep|mcp__.*";

export const SETTINGS: Readonly<Record<string, AgentSettings>> = {
  "claude-code": {
    // settings.json of a project is everybody's; where hermes lies on this machine is not.
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

/** Seconds: less than any agent waits, and more than the hook itself takes to give up. */
const PATIENCE_S = 40;

/**
 * What the agent is to run. An agent whose hook is gone, broken, killed or stuck is to stop, not to go on without it: agents
 * go on after any status but 2, some of them after a 2 without words, and all of them when it takes too long.
 */
export function hookCommandOf(agent: string): string {
  const patience = `command -v timeout >/dev/null && set -- timeout -k 1 ${PATIENCE_S}`;
  const refusal = `{ echo 'HERMES has not allowed this: it refused it, or could not judge it.' >&2; exit 2; }`;
  return `${patience}; "$@" ${quoted(`${HOME}hermes`)} hook ${agent} || ${refusal}`;
}

/** Written by us, perhaps from another place, perhaps by an older version. */
export function isOurs(command: unknown, agent: string): boolean {
  return typeof command === "string" && command.includes(`/hermes' hook ${agent} || `);
}
