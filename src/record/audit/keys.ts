import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { HermesError } from "../../nouns/errors.js";

/** Signs a record's hash. */
export type Signer = (hash: string) => string;

/** An ed25519 key beside the store: `.key` signs and stays here, `.pub` verifies and may go anywhere. */
export function makeKeys(beside: string): { readonly key: string; readonly pub: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const files = { key: `${beside}.key`, pub: `${beside}.pub` };
  try {
    // "wx": an older key has signed records, and is not written over.
    writeFileSync(files.key, privateKey.export({ type: "pkcs8", format: "pem" }), {
      mode: 0o600,
      flag: "wx",
    });
    writeFileSync(files.pub, publicKey.export({ type: "spki", format: "pem" }), { mode: 0o644 });
  } catch (cause) {
    throw new HermesError("AUDIT", { message: (cause as Error).message }, { cause });
  }
  return files;
}

/** Undefined when there is no key: records are chained, and not signed. */
export function readSigner(beside: string): Signer | undefined {
  const key = readPrivateKey(`${beside}.key`);
  return key && ((hash) => sign(null, Buffer.from(hash), key).toString("base64"));
}

/** Undefined when there is no such file. */
export function readPrivateKey(file: string): KeyObject | undefined {
  const text = readKey(file);
  if (text === undefined) return undefined;
  if ((statSync(file).mode & 0o077) !== 0)
    throw new HermesError("AUDIT", { message: `${file} can be read by others: chmod 600 it` });
  return parsed(file, () => createPrivateKey(text));
}

/** Undefined when there is no such file. */
export function readPublicKey(file: string): KeyObject | undefined {
  const text = readKey(file);
  return text === undefined ? undefined : parsed(file, () => createPublicKey(text));
}

export function isSignedBy(keys: readonly KeyObject[], hash: string, signature: string): boolean {
  const bytes = Buffer.from(signature, "base64");
  return keys.some((key) => verify(null, Buffer.from(hash), key, bytes));
}

/** How people compare keys. */
export function fingerprint(key: KeyObject): string {
  return createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("hex");
}

function readKey(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new HermesError("AUDIT", { message: `${file}: ${(cause as Error).message}` }, { cause });
  }
}

function parsed(file: string, parse: () => KeyObject): KeyObject {
  try {
    const key = parse();
    if (key.asymmetricKeyType !== "ed25519") throw new Error(`it is of the type ${key.asymmetricKeyType}`);
    return key;
  } catch (cause) {
    const message = `${file} is no ed25519 key: ${(cause as Error).message}`;
    throw new HermesError("AUDIT", { message }, { cause });
  }
}
