import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.js";

/** A test that may fail once although nothing is wrong, and why. No other test gets a second try. */
export interface Quarantined {
  readonly file: string;
  /** The whole name, as the reporter prints it after the file. */
  readonly test: string;
  readonly cause: string;
}

export const QUARANTINE: readonly Quarantined[] = JSON.parse(
  readFileSync(join(root, "test/quarantine.json"), "utf8"),
);

/** Every run says once which tests get a second try. Each project loads the configuration anew. */
export function announce(): void {
  if (process.env.HERMES_TEST_ANNOUNCED) return;
  process.env.HERMES_TEST_ANNOUNCED = "yes";
  for (const { file, test, cause } of QUARANTINE)
    process.stderr.write(`quarantined, gets a second try: ${file} > ${test}: ${cause}\n`);
}
