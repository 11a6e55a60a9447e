import { createHash } from "node:crypto";
import { HermesError } from "../nouns/errors.js";

/** Labels of hosts: `{ "role": "build", "zone": "eu" }`. */
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
      message: `a host name has at most 63 letters, digits, dots, hyphens and underscores: not "${name}"`,
    });
}

export function shownLabels(labels: Labels): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}

/** Whether the host has every label of the selector. An empty selector matches every host. */
export function matches(selector: Labels, labels: Labels): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

const PARTS = 10_000;

/** Whether a host is in the first N percent: deterministic, and a growing percentage only adds hosts. */
export function isChosen(assignment: string, host: string, percent: number): boolean {
  const hash = createHash("sha256").update(`${assignment}\0${host}`).digest();
  return hash.readUInt32BE(0) % PARTS < percent * (PARTS / 100);
}
