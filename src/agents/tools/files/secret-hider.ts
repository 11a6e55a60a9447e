import { findSecrets, type Secret } from "../../../intent/guard/credentials/secrets.js";

/** The placeholder for a redacted secret: see `redact` of the guard. */
const MARK = "[redacted: ";

/** The guard recognises a secret by its context, so a part of a text is redacted together with the text around it. */
export class SecretHider {
  readonly #text: string;
  readonly #secrets: readonly Secret[];
  readonly rules = new Set<string>();

  constructor(text: string) {
    this.#text = text;
    this.#secrets = findSecrets(text);
  }

  /** A redacted part. Line breaks are kept, so that line numbers stay right. */
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

  /** The note to the agent. */
  get note(): string | undefined {
    if (this.rules.size === 0) return undefined;
    return `Secrets are redacted (${[...this.rules].join(", ")}): the placeholders are not in the file.`;
  }
}

/** Writing the redacted text back would destroy the secret. */
export function addsRedactions(now: string, before: string): boolean {
  return marks(now) > marks(before);
}

function marks(text: string): number {
  return text.split(MARK).length - 1;
}
