import type { AgentName, Place } from "../hooks/place.js";
import type { Step } from "./protocols/protocol.js";

/** What a client is started for. */
export interface Start {
  readonly place: Place;
  /** The scripted model. */
  readonly url: string;
  /** Extra words on its command line. */
  readonly words?: readonly string[];
  /** Its own questions and its own sandbox are off: what stops a call then is its hook. */
  readonly free: boolean;
}

export interface Command {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What a client's own credentials hold. */
export const OWN_KEY = "THE-AGENTS-OWN-CREDENTIALS";

/** A real client: where it comes from, how it is started, and what it calls the tools that the checks use. */
export interface Client {
  readonly agent: AgentName | "opencode";
  /** It has no hook of ours: only the checks of whole agents are for it. */
  readonly wholeOnly?: boolean;
  readonly title: string;
  readonly package: string;
  /** The one that the table in docs/how-to/hooks.md is about; `npm run agents -- --newest` tries the newest. */
  readonly version: string;
  /** Its program below node_modules. */
  readonly program: string;
  /** It wants a newer Node than ours. */
  readonly node?: boolean;
  /** Settings that a user has made before HERMES comes: who to talk to, and nothing of hooks. */
  prepare(place: Place): void;
  command(start: Start): Command;
  /** MCP servers, written where the client looks for them. */
  servers(place: Place, servers: Readonly<Record<string, readonly string[]>>): void;
  readonly tools: {
    shell(command: string): Step;
    /** Every other tool that takes a command. */
    readonly otherShells: readonly ((command: string) => Step)[];
    read?(path: string): Step;
    write(path: string, text: string): Step;
    search?(pattern: string, path?: string): Step;
    mcp(server: string, tool: string, input: Readonly<Record<string, unknown>>): Step;
    /** A helper agent that is given a task. */
    helper?(task: string): Step;
  };
  /** Where it keeps its hooks, in a project. */
  readonly settings: string;
  /** Every file that installing may change. */
  readonly ownFiles: readonly string[];
  /** Its own credentials and settings in the user's home, as a user has them who has logged in. */
  readonly own: {
    readonly credentials: { readonly file: string; readonly text: string };
    readonly settings: string;
  };
  /** A rule of the user's own that denies `touch`. */
  ownRule(place: Place): void;
}
