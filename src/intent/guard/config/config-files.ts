import { join } from "node:path";

const FILE_NAME = "hermes.yaml";

export interface Places {
  readonly workspace: string;
  readonly home: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** The folder of the user's file: HERMES_HOME, else XDG_CONFIG_HOME, else ~/.config. */
export function userFile({ home, env = {} }: Places): string {
  if (env.HERMES_HOME) return join(env.HERMES_HOME, FILE_NAME);
  return join(env.XDG_CONFIG_HOME || join(home, ".config"), "hermes", FILE_NAME);
}

export function projectFile({ workspace }: Places): string {
  return join(workspace, FILE_NAME);
}
