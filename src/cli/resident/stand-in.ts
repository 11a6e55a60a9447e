import { closeSync } from "node:fs";
import { native } from "../../kernel/binding/native.js";
import { decodeText } from "../../nouns/text.js";
import { type HookOutcome, hookOutcome } from "../commands/hook.js";
import type { judgeForCaller } from "../commands/hook-judge.js";
import { OpenStore } from "./open-store.js";

/**
 * A stand-in of the resident process: answers one caller after the other, each as the caller's own process would. It takes the
 * caller's environment, folder and umask for that, so that no code has to know for whom it works. It ends with its first error:
 * the caller then does it itself.
 */

interface Request {
  readonly connection: number;
  /** The caller's working directory, open. */
  readonly folder: number;
  readonly umask: number;
  readonly words: readonly string[];
  readonly environment: readonly string[];
  readonly input: Uint8Array;
}

/** native/protocol/resident.h */
const DECLINED = 0xffff;

/** Without a caller for so long, the store is closed. */
const QUIET_MS = 5000;

/** Then another one takes its place: memory stays bounded, whatever has been judged. */
const MOST_SERVED = 1000;

const stores = new OpenStore();

/** Undefined: there will be no more. */
async function takeRequest(): Promise<Request | undefined> {
  const facts = new Int32Array(6);
  let texts = native().takeRequest(new Uint8Array(facts.buffer), QUIET_MS);
  if (texts === 0) {
    await stores.close();
    texts = native().takeRequest(new Uint8Array(facts.buffer), -1);
  }
  if (typeof texts === "number") return undefined;
  const [connection, folder, umask, words, environment] = facts as unknown as number[];
  const part = (from: number, size: number) => texts.subarray(from, from + size);
  return {
    connection: connection!,
    folder: folder!,
    umask: umask!,
    words: textsOf(part(0, words!)),
    environment: textsOf(part(words!, environment!)),
    input: texts.subarray(words! + environment!),
  };
}

function textsOf(bytes: Uint8Array): string[] {
  return decodeText(bytes).split("\0").slice(0, -1);
}

function takePlaceOf({ folder, umask, environment }: Request): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  for (const entry of environment) {
    const at = entry.indexOf("=", 1);
    if (at > 0) process.env[entry.slice(0, at)] = entry.slice(at + 1);
  }
  process.umask(umask);
  process.chdir(`/proc/self/fd/${folder}`);
  closeSync(folder);
}

function leavePlace(): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  process.umask(0o077);
  process.chdir("/");
}

async function outcomeOf(
  { words: [command, ...words], input }: Request,
  judge: typeof judgeForCaller,
): Promise<HookOutcome | undefined> {
  if (command !== "hook") return undefined;
  let declined = false;
  const outcome = await hookOutcome(
    words,
    () => input,
    async ({ agent, workspace }, text) => {
      const judged = await judge(agent, text, workspace, stores);
      declined = judged === undefined;
      return judged?.answer;
    },
  );
  return declined ? undefined : outcome;
}

async function standIn(): Promise<never> {
  native().hide();
  leavePlace();
  const { judgeForCaller } = await import("../commands/hook-judge.js");
  for (let served = 0; served < MOST_SERVED; served++) {
    const request = await takeRequest();
    if (!request) break;
    takePlaceOf(request);
    const outcome = await outcomeOf(request, judgeForCaller);
    leavePlace();
    const { status = DECLINED, stdout = "", stderr = "" } = outcome ?? {};
    native().giveReply(request.connection, status, Buffer.from(stdout), Buffer.from(stderr));
  }
  await stores.close();
  return process.exit(0);
}

process.on("uncaughtException", () => process.exit(1));
process.on("unhandledRejection", () => process.exit(1));
void standIn();
