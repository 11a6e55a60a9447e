import { createHash, type KeyObject, sign, verify } from "node:crypto";

/** One release of a policy: the serial increases with every release. */
export interface Release {
  readonly serial: number;
  /** SHA-256 of the text. */
  readonly policy: string;
  readonly signature: string | null;
}

export function hashOfText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function signed({ serial, policy }: Omit<Release, "signature">): Buffer {
  return Buffer.from(JSON.stringify(["hermes policy", 1, serial, policy]));
}

/** ed25519 over serial and hash: neither can be combined with another. */
export function signRelease(release: Omit<Release, "signature">, key: KeyObject): string {
  return sign(null, signed(release), key).toString("base64");
}

export function isSigned(release: Release, keys: readonly KeyObject[]): boolean {
  if (release.signature === null) return false;
  const bytes = Buffer.from(release.signature, "base64");
  return keys.some((key) => verify(null, signed(release), key, bytes));
}
