import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { stateFolder } from "./state-folder.js";

/** What a host's agent keeps of its fleet (src/fleet): its policy, and how far it has come. */
export function fleetFolder(env: Readonly<Record<string, string | undefined>>, home: string): string {
  return join(stateFolder(env, home), "fleet");
}

/** The policy that the fleet has for this host: every session here is held to it. Undefined where there is no fleet. */
export function fleetPolicy(env = process.env, home = homedir()): string | undefined {
  const folder = fleetFolder(env, home);
  // Once a host belongs to a fleet, a policy that is missing is an error and not a freedom.
  return existsSync(folder) ? join(folder, "policy.yaml") : undefined;
}
