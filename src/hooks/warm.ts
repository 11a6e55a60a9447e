import { connect } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { stateFolder } from "../store/state-folder.js";
import { PACKAGE_VERSION } from "../version.js";

/** What a hook asks a process that has everything loaded: a console that runs. */
export interface WarmQuestion {
  readonly like: string;
  readonly agent: string;
  readonly text: string;
  readonly workspace?: string;
  /** What the agent says in its variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** As the hook itself would have answered: what the agent is told, or why it is refused. */
export type WarmAnswer = { readonly answer: object | null } | { readonly refused: string };

type Env = Readonly<Record<string, string | undefined>>;

/** Beside the store, in a folder that is only its owner's. */
export function hookSocket(env: Env): string {
  return join(stateFolder(env, homedir()), "hook.sock");
}

/** Two processes for which this is the same read the same configuration and write to the same store. */
export function likeness(env: Env): string {
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

/** Its answer; undefined when nobody is there, or not one that is like us: then the hook must judge by itself. */
export function askWarm(question: Omit<WarmQuestion, "like">, env: Env): Promise<WarmAnswer | undefined> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    const socket = connect({ path: hookSocket(env), allowHalfOpen: true });
    const give = (answer?: WarmAnswer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(PATIENCE_MS, () => give());
    socket.on("error", () => give());
    socket.on("connect", () => socket.end(JSON.stringify({ like: likeness(env), ...question })));
    socket.on("data", (part) => parts.push(part));
    socket.on("end", () => give(read(Buffer.concat(parts).toString("utf8"))));
  });
}

function read(text: string): WarmAnswer | undefined {
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
