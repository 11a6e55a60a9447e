import { rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { Store } from "../../record/store/store.js";
import { AGENTS } from "./agents.js";
import { answerHook } from "./hook.js";
import { environmentKey, type HookReply, type HookRequest, hookSocket } from "./hook-socket.js";
import { readCall } from "./read.js";

const LONGEST = 65 * 1024 * 1024;
const PATIENCE_MS = 15_000;

/**
 * Answers hooks from a process that has everything loaded and the store open. Only the user who owns the store can connect.
 * Undefined when it cannot serve: another process already does, or the socket's path would be too long. Hooks then judge by
 * themselves.
 */
export async function serveHooks(
  store: Store,
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ close(): void } | undefined> {
  const path = hookSocket(env);
  if (await isServed(path)) return undefined;
  rmSync(path, { force: true });
  const server = createServer({ allowHalfOpen: true }, (socket) =>
    converse(socket, store, environmentKey(env)),
  );
  if (!(await listening(server, path))) return undefined;
  return {
    close() {
      server.close();
    },
  };
}

function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

function listening(server: Server, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    server.on("error", () => resolve(false));
    // The socket is made within listen(). To change its mode afterwards would leave a moment in which others may connect.
    const mask = process.umask(0o177);
    server.listen(path, () => resolve(true));
    process.umask(mask);
  });
}

function converse(socket: Socket, store: Store, like: string): void {
  const parts: Buffer[] = [];
  let length = 0;
  socket.setTimeout(PATIENCE_MS, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  socket.on("data", (part) => {
    parts.push(part);
    length += part.length;
    if (length > LONGEST) socket.destroy();
  });
  socket.on("end", () => {
    void answered(Buffer.concat(parts).toString("utf8"), store, like).then((answer) =>
      socket.end(answer === undefined ? "" : JSON.stringify(answer)),
    );
  });
}

/** Keeps only strings of the received object. */
function variablesOf({ env }: HookRequest): Record<string, string> {
  const texts = Object.entries(env ?? {}).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(texts) as Record<string, string>;
}

/** Undefined for a client with another configuration or an invalid request: the hook then judges by itself. */
async function answered(text: string, store: Store, like: string): Promise<HookReply | undefined> {
  let question: HookRequest;
  try {
    question = JSON.parse(text);
  } catch {
    return undefined;
  }
  const agent = AGENTS.find((one) => one.name === question?.agent);
  if (!agent || question.like !== like || typeof question.text !== "string") return undefined;
  try {
    const call = readCall(question.text, agent, variablesOf(question), question.workspace);
    return { answer: (await answerHook(call, agent, store)) ?? null };
  } catch (error) {
    return { refused: (error as Error).message || "it failed" };
  }
}
