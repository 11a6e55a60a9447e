import { raw } from "../record/store/sql.js";
import { preparePartitions } from "./audit-partitions.js";
import type { Fleet } from "./fleet.js";
import { settleRelease } from "./releases.js";
import { type RolledBack, watchRollouts } from "./rollout.js";

interface FleetMaintenanceOptions {
  readonly fleet: Fleet;
  readonly log: (text: string) => void;
  readonly takenBack?: (taken: RolledBack) => Promise<void>;
  readonly tick?: number;
}

const HOUR = 3_600_000;

/**
 * Periodic maintenance: failing rollouts, new hosts, partitions of the audit for the coming months. Any number of servers
 * may run it; a database lock lets one at a time.
 */
export class FleetMaintenance {
  readonly #options: FleetMaintenanceOptions;
  readonly #timer: NodeJS.Timeout;
  #busy: Promise<void> | undefined;
  #prepared = 0;
  #trouble = "";

  constructor(options: FleetMaintenanceOptions) {
    this.#options = options;
    this.#timer = setInterval(() => {
      this.#busy ??= this.#look().finally(() => {
        this.#busy = undefined;
      });
    }, options.tick ?? 1_000);
  }

  async #look(): Promise<void> {
    const { fleet, log, takenBack } = this.#options;
    try {
      const taken = await fleet.write(function* () {
        const [turn] = yield raw("SELECT pg_try_advisory_xact_lock(4839172637)::int AS mine");
        if (turn?.mine !== 1) return [];
        const found = yield* watchRollouts();
        yield* settleRelease();
        return found;
      });
      for (const one of taken) {
        log(`${one.name}: policy ${one.serial} was rolled back: ${one.why}`);
        await takenBack?.(one);
      }
      if (Date.now() - this.#prepared > HOUR) {
        await fleet.write(preparePartitions);
        this.#prepared = Date.now();
      }
      this.#trouble = "";
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.#trouble) log(message);
      this.#trouble = message;
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#busy;
  }
}
