import { createHash } from "node:crypto";
import { HermesError } from "../errors.js";

/** What hosts are told apart by: `{ "role": "build", "zone": "eu" }`. */
export type Labels = Readonly<Record<string, string>>;

const NAME = /^[a-z0-9][\w.-]{0,62}$/i;

/** `role=build` each. */
export function labelsOf(words: readonly string[]): Labels {
  const labels: Record<string, string> = {};
  for (const word of words) {
    const [, key, value] = /^([^=]+)=(.+)$/.exec(word) ?? [];
    if (key === undefined || value === undefined || !NAME.test(key) || !NAME.test(value))
      throw new HermesError("USAGE", { message: `a label looks like role=build, not "${word}"` });
    labels[key] = value;
  }
  return labels;
}

export function checkHostName(name: string): void {
  if (!NAME.test(name))
    throw new HermesError("USAGE", {
      message: `a host's name has letters, digits, dots, lines and underscores, at most 63: not "${name}"`,
    });
}

export function shownLabels(labels: Labels): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}

/** Every label of the selector is one of the host's. An empty selector means every host. */
export function matches(selector: Labels, labels: Labels): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

const PARTS = 10_000;

/** Whether a host is among the first so many of a hundred: always the same ones, and more of them as it grows. */
export function isChosen(assignment: string, host: string, percent: number): boolean {
  const hash = createHash("sha256").update(`${assignment}\0${host}`).digest();
  return hash.readUInt32BE(0) % PARTS < percent * (PARTS / 100);
}
