import { allowancesOf } from "../../intent/guard/config/allow.js";
import type { Places } from "../../intent/guard/config/config-files.js";
import { loadConfig } from "../../intent/guard/config/load.js";
import type { Allowance } from "../../nouns/allowance.js";

/** What hermes.yaml allows in a workspace: a file of its own, because most runs do not load it. */
export function readAllowances(places: Places): readonly Allowance[] {
  return allowancesOf(loadConfig(places).config.allow, places.workspace, places.home);
}
