import { join } from "node:path";

/** What HERMES remembers of its own: HERMES_HOME, else the folder that XDG names, else ~/.local/state. */
export function stateFolder(env: Readonly<Record<string, string | undefined>>, home: string): string {
  return env.HERMES_HOME || join(env.XDG_STATE_HOME || join(home, ".local/state"), "hermes");
}
