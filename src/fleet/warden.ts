import { raw } from "../store/sql.js";
import type { Fleet } from "./fleet.js";
import { prepareParts } from "./parts.js";
import { settle } from "./releases.js";
import { type TakenBack, watchRollouts } from "./rollout.js";

export interface WardenOptions {
  readonly fleet: Fleet;
  readonly log: (text: string) => void;
  readonly takenBack?: (taken: TakenBack) => Promise<void>;
  readonly tick?: number;
}

const HOUR = 3_600_000;

/**
 * What somebody must see to from time to time: rollouts that go wrong, hosts that are new, parts of the audit for the months
 * to come. Any number of servers may run it; the database lets one of them at a time.
 */
export class Warden {
  readonly #options: WardenOptions;
  readonly #timer: NodeJS.Timeout;
  #busy: Promise<void> | undefined;
  #prepared = 0;
  #trouble = "";

  constructor(options: WardenOptions) {
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
        yield* settle();
        return found;
      });
      for (const one of taken) {
        log(`${one.name}: policy ${one.serial} was taken back: ${one.why}`);
        await takenBack?.(one);
      }
      if (Date.now() - this.#prepared > HOUR) {
        await fleet.write(prepareParts);
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
