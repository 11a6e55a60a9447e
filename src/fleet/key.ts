import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";

const ROUNDS = 4096;

/** A host's key, and the SCRAM verifier that the server stores (RFC 5803): the key is in no statement and in no log. */
export function newKey(): { readonly key: string; readonly verifier: string } {
  const key = randomBytes(24).toString("base64url");
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(key, salt, ROUNDS, 32, "sha256");
  const hmac = (name: string) => createHmac("sha256", salted).update(name).digest();
  const stored = createHash("sha256").update(hmac("Client Key")).digest("base64");
  const server = hmac("Server Key").toString("base64");
  return { key, verifier: `SCRAM-SHA-256$${ROUNDS}:${salt.toString("base64")}$${stored}:${server}` };
}
