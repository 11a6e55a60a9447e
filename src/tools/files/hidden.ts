import { findSecrets, type Secret } from "../../guard/credentials/secrets.js";

/** How a secret looks when it was taken out: see `redact` of the guard. */
const MARK = "[redacted: ";

/** A secret is known by its surroundings: a part of a text is cleaned with what stands around it. */
export class Hidden {
  readonly #text: string;
  readonly #secrets: readonly Secret[];
  readonly rules = new Set<string>();

  constructor(text: string) {
    this.#text = text;
    this.#secrets = findSecrets(text);
  }

  /** A part without its secrets. It keeps its lines, so that their numbers stay right. */
  part(from: number, to: number): string {
    let out = "";
    let at = from;
    for (const { start, end, rule } of this.#secrets) {
      if (end <= at || start >= to) continue;
      this.rules.add(rule);
      const lines = this.#text.slice(Math.max(start, at), Math.min(end, to)).split("\n").length - 1;
      out += `${this.#text.slice(at, Math.max(start, at))}${MARK}${rule}]${"\n".repeat(lines)}`;
      at = Math.min(end, to);
    }
    return out + this.#text.slice(at, to);
  }

  /** What the agent should know of it. */
  get note(): string | undefined {
    if (this.rules.size === 0) return undefined;
    return `Secrets were taken out (${[...this.rules].join(", ")}): what stands in their place is ours.`;
  }
}

/** Whoever writes back what was read would lose the secret. */
export function bringsMarks(now: string, before: string): boolean {
  return marks(now) > marks(before);
}

function marks(text: string): number {
  return text.split(MARK).length - 1;
}
