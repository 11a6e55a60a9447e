import { createHmac, timingSafeEqual } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { expandHome } from "../../intent/guard/paths/components.js";
import { HermesError } from "../../nouns/errors.js";
import { ANSWERS, type Answer } from "./answer.js";

/** The holder of a token may give that answer to that approval until it expires. An approval takes one answer. */
interface ApprovalToken {
  readonly id: string;
  readonly answer: Answer;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

const FORM = /^([0-9a-f]{16})\.([a-z-]{2,10})\.(\d{13,15})\.([\w-]{43})$/;
const SECRET_AT_LEAST = 32;

export function signToken(secret: string, { id, answer, expires }: ApprovalToken): string {
  return `${id}.${answer}.${expires}.${mac(secret, `token ${id}.${answer}.${expires}`)}`;
}

/** What a token says; throws when it was not signed with this secret, or is over. */
export function readToken(secret: string, text: string): ApprovalToken {
  const [, id = "", word, time, signature = ""] = FORM.exec(text.trim()) ?? [];
  const answer = ANSWERS.find((one) => one === word);
  const expires = Number(time);
  const wrong = (message: string) => new HermesError("APPROVAL", { id: id || "by token", message });
  const right = answer !== undefined && signature.length === 43;
  if (!right || !equal(signature, mac(secret, `token ${id}.${answer}.${expires}`)))
    throw wrong("this token is not one of ours");
  if (expires <= Date.now()) throw wrong("this token is over");
  return { id, answer, expires };
}

/** Of a body that is sent, and when: the receiver checks both. */
export function signBody(secret: string, seconds: number, body: string): string {
  return `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`;
}

/** The secret that signs; a file that others can read is refused. */
export function readSecret(file: string, home = homedir()): string {
  const path = expandHome(file, home);
  const wrong = (message: string) => new HermesError("CONFIG", { file: path, message });
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    throw wrong(`cannot read the webhook's secret: ${(error as NodeJS.ErrnoException).code}`);
  }
  try {
    const { mode, uid } = fstatSync(fd);
    if ((mode & 0o077) !== 0 || uid !== process.getuid?.())
      throw wrong("the webhook's secret must be yours alone to read: chmod 600");
    const secret = readFileSync(fd, "utf8").trim();
    if (secret.length < SECRET_AT_LEAST)
      throw wrong(`the webhook's secret is too short: ${SECRET_AT_LEAST} characters at least`);
    return secret;
  } finally {
    closeSync(fd);
  }
}

function mac(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("base64url");
}

function equal(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
