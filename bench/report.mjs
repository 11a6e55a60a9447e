import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { progress } from "./progress.mjs";

/** The file format's version: increase it when the shape changes. */
export const FORMAT = 1;

/** The measurements of one run, and what could not be measured. */
export class Report {
  #file;
  #head;
  #scenarios = {};
  #notMeasured = [];
  #from = performance.now();
  /** The current scenario. */
  #now = "";

  /** `head`: when, where and how. Without a file nothing is stored. */
  constructor(head, file) {
    this.#head = head;
    this.#file = file;
  }

  /** Runs one scenario. An error is reported and stored; the other scenarios still run. */
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

  /** A measurement that was skipped, with the reason. */
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

  /** After every scenario, so that an interrupted run keeps its results. */
  save() {
    if (this.#file === undefined) return;
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, `${JSON.stringify(this.results(), null, 1)}\n`);
  }
}

/** Scenarios return one table or several, nested in any way. */
function tablesIn(result) {
  return [result].flat(Number.POSITIVE_INFINITY).filter((one) => one !== undefined && one !== null);
}
