import type { Profile } from "../layer.js";
import { type Places, userFile } from "./config-files.js";

const MEANING: Readonly<Record<Profile, string>> = {
  standard:
    "ordinary work in the workspace runs, risky commands ask, the worst are refused (profile: strict asks about everything but a short list)",
  strict:
    "only a short list of commands runs, all others and several statements at once ask, the worst are refused (profile: standard lets ordinary work run)",
};

/** Which profile is in force, and where to choose another: said where an agent's work begins. */
export function profileText(profile: Profile, places: Places): string {
  return `profile ${profile}: ${MEANING[profile]}; choose in ${userFile(places)}, for one run with --profile`;
}
