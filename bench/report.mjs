import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { progress } from "./progress.mjs";

/** Of the file: a reader that knows another number knows another shape. */
export const FORMAT = 1;

/** What was measured in one sitting, and what could not be. */
export class Report {
  #file;
  #head;
  #scenarios = {};
  #notMeasured = [];
  #from = performance.now();
  /** The scenario that is under way. */
  #now = "";

  /** `head`: when, where and how. Without a file nothing is kept. */
  constructor(head, file) {
    this.#head = head;
    this.#file = file;
  }

  /** Runs one scenario. What it throws is told and kept: the others still run. */
  async take(name, measure) {
    this.#now = name;
    const from = performance.now();
    const entry = { seconds: 0, tables: [] };
    this.#scenarios[name] = entry;
    try {
      entry.tables = tablesIn(await measure());
    } catch (error) {
      entry.error = String(error.message).slice(0, 500);
      this.cannot(name, entry.error);
    }
    entry.seconds = Math.round((performance.now() - from) / 100) / 10;
    this.save();
  }

  /** Something that was to be measured and is not, with the reason. */
  cannot(what, why) {
    progress("");
    process.stdout.write(`bench: not measured: ${what}: ${why}\n`);
    if (!this.#notMeasured.some((one) => one.what === what && one.why === why))
      this.#notMeasured.push({ scenario: this.#now, what, why });
  }

  get failed() {
    return Object.values(this.#scenarios).some(({ error }) => error !== undefined);
  }

  results() {
    return {
      format: FORMAT,
      ...this.#head,
      seconds: Math.round((performance.now() - this.#from) / 1000),
      scenarios: this.#scenarios,
      notMeasured: this.#notMeasured,
    };
  }

  /** After every scenario: a sitting that was broken off has not been for nothing. */
  save() {
    if (this.#file === undefined) return;
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, `${JSON.stringify(this.results(), null, 1)}\n`);
  }
}

/** Scenarios return a table, or several, in whatever order suits them. */
function tablesIn(result) {
  return [result].flat(Number.POSITIVE_INFINITY).filter((one) => one !== undefined && one !== null);
}
