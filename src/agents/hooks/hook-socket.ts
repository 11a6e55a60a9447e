import { existsSync } from "node:fs";
import { connect } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { PACKAGE_VERSION } from "../../nouns/version.js";
import { stateFolder } from "../../record/store/state-folder.js";

/** A hook's request to a process that has everything loaded: a running console. */
export interface HookRequest {
  readonly like: string;
  readonly agent: string;
  readonly text: string;
  readonly workspace?: string;
  /** The agent's environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The hook's answer: the output for the agent, or the reason of a refusal. */
export type HookReply = { readonly answer: object | null } | { readonly refused: string };

type Env = Readonly<Record<string, string | undefined>>;

/** Beside the store, in a folder that only its owner can enter. */
export function hookSocket(env: Env): string {
  return join(stateFolder(env, homedir()), "hook.sock");
}

/** Two processes with equal values read the same configuration and write to the same store. */
export function environmentKey(env: Env): string {
  const { HERMES_HOME, HERMES_STORE, XDG_CONFIG_HOME, XDG_STATE_HOME } = env;
  return JSON.stringify([
    PACKAGE_VERSION,
    homedir(),
    HERMES_HOME,
    HERMES_STORE,
    XDG_CONFIG_HOME,
    XDG_STATE_HOME,
  ]);
}

const PATIENCE_MS = 5000;

/** The answer; undefined when no such process runs, or one with another configuration: then the hook judges by itself. */
export async function askHookServer(
  question: Omit<HookRequest, "like">,
  env: Env,
): Promise<HookReply | undefined> {
  const path = hookSocket(env);
  if (!existsSync(path)) return undefined; // without loading node:net
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    const socket = connect({ path, allowHalfOpen: true });
    const give = (answer?: HookReply) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(PATIENCE_MS, () => give());
    socket.on("error", () => give());
    socket.on("connect", () => socket.end(JSON.stringify({ like: environmentKey(env), ...question })));
    socket.on("data", (part) => parts.push(part));
    socket.on("end", () => give(read(Buffer.concat(parts).toString("utf8"))));
  });
}

function read(text: string): HookReply | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    const { answer, refused } = value as { answer?: unknown; refused?: unknown };
    if (typeof refused === "string" && refused !== "") return { refused };
    return typeof answer === "object" && !Array.isArray(answer) ? { answer } : undefined;
  } catch {
    return undefined;
  }
}
