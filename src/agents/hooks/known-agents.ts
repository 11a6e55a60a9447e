import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ourHooks } from "./install/edit.js";
import { readSettings } from "./install/install.js";
import { SETTINGS, type SettingsFolders, type SettingsScope } from "./install/settings.js";

/** An agent whose real client has run through `npm run agents`. */
interface KnownAgent {
  readonly name: string;
  readonly title: string;
  /** What its user types. */
  readonly program: string;
  /** The policy for the whole agent. */
  readonly policy: string;
  /** Words that turn its own sandbox off, where that could not work inside HERMES. */
  readonly words?: string;
}

const KNOWN_AGENTS: readonly KnownAgent[] = [
  { name: "claude-code", title: "Claude Code", program: "claude", policy: "claude-code" },
  {
    name: "codex",
    title: "Codex",
    program: "codex",
    policy: "codex",
    words: "--sandbox danger-full-access",
  },
  { name: "gemini", title: "Gemini CLI", program: "gemini", policy: "gemini" },
  { name: "opencode", title: "OpenCode", program: "opencode", policy: "opencode" },
];

export interface FoundAgent extends KnownAgent {
  /** Its program's file; undefined where it is not on the PATH. */
  readonly file: string | undefined;
  /** Where its hook is installed; undefined where HERMES has no hook for it. */
  readonly hook: readonly SettingsScope[] | undefined;
}

/** Every agent that HERMES knows, and what of it is here. Settings that cannot be read are an error. */
export function knownAgents(places: SettingsFolders): FoundAgent[] {
  return KNOWN_AGENTS.map((agent) => ({
    ...agent,
    file: programFile(agent.program, places.env.PATH),
    hook: hookOf(agent.name, places),
  }));
}

function hookOf(name: string, places: SettingsFolders): readonly SettingsScope[] | undefined {
  const settings = SETTINGS[name];
  return (
    settings &&
    (["project", "user"] as const).filter((scope) => {
      const file = settings.file(scope, places);
      return existsSync(file) && ourHooks(readSettings(file), file, name, settings).length > 0;
    })
  );
}

function programFile(name: string, path = ""): string | undefined {
  return path
    .split(delimiter)
    .map((folder) => join(folder || ".", name))
    .find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
