import { spawn } from "node:child_process";
import { NATIVE_FOLDER } from "../../kernel/binding/native.js";
import { HOME } from "../../nouns/home.js";

export const RESIDENT = `${NATIVE_FOLDER}hermes-resident`;
/** Without a call for so long it ends. */
const IDLE_SECONDS = 600;
/** Where its folder is: native/resident/socket.c. It gets no other variable of its first caller. */
const NEEDED = ["HERMES_HOME", "XDG_STATE_HOME", "HOME"];

/**
 * Starts the resident process of this user, detached from everything of ours. It ends at once where there is one already, or
 * where it must not be (native/resident/serve.c).
 */
export function startResident(idleSeconds = IDLE_SECONDS): void {
  const words = ["serve", process.execPath, `${HOME}dist/cli/stand-in.cjs`, String(idleSeconds)];
  const env = Object.fromEntries(NEEDED.map((name) => [name, process.env[name]]));
  spawn(RESIDENT, words, { detached: true, stdio: "ignore", cwd: "/", env }).unref();
}
