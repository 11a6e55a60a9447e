import { existsSync } from "node:fs";
import { join } from "node:path";

const FILE_NAME = "hermes.yaml";

export interface Places {
  readonly workspace: string;
  readonly home: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** The user's file: hermes.yaml in HERMES_HOME, else in XDG_CONFIG_HOME, else in ~/.config; or the older one, if only that exists. */
export function userFile(places: Places): string {
  const own = ownFile(places);
  const older = olderFile(places);
  return !existsSync(own) && existsSync(older) ? older : own;
}

/** Every place where the user's file may be. */
export function userFiles(places: Places): readonly string[] {
  return [ownFile(places), olderFile(places)];
}

function ownFile({ home, env = {} }: Places): string {
  if (env.HERMES_HOME) return join(env.HERMES_HOME, FILE_NAME);
  return join(env.XDG_CONFIG_HOME || join(home, ".config"), "hermes", FILE_NAME);
}

/** Where agents of this name keep their configuration. */
function olderFile({ home, env = {} }: Places): string {
  return join(env.HERMES_HOME || join(home, ".hermes"), "config.yaml");
}

export function projectFile({ workspace }: Places): string {
  return join(workspace, FILE_NAME);
}
