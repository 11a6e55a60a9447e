import type { Approver } from "../approval/approver.js";
import type { Profile } from "../guard/layer.js";
import type { Store, ToolCallStatus } from "../store/store.js";
import type { Backend } from "./backend.js";

export interface ToolboxOptions {
  /** The folder that the agent works in; nothing outside is changed. Default: the working directory. */
  readonly workspace?: string;
  readonly home?: string;
  /** What commands start from, before secrets are taken out. Default: our own. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Who the agent is, for the records. */
  readonly agent?: string;
  /** Where rows and records are kept: a store that is open, a path or a URL. Default: docs/store.md. */
  readonly store?: Store | string;
  /** Where people are asked, besides `hermes approvals`. */
  readonly approvers?: readonly Approver[];
  /** Where commands run. Default: here. */
  readonly backend?: Backend;
  readonly profile?: Profile;
  /** Have the guard ask the network what only it knows. */
  readonly online?: boolean;
  /** Seconds that a command may be given at most. Default: 120. */
  readonly longestTimeout?: number;
  /** Only these tools. Default: all. */
  readonly tools?: readonly string[];
  /** What an operator should hear of. */
  readonly problem?: (text: string) => void;
}

export interface CallOptions {
  /** Aborting ends everything that the call started. */
  readonly signal?: AbortSignal;
  /** What a command prints, as it prints it. */
  readonly onOutput?: (stream: "stdout" | "stderr", bytes: Buffer) => void;
  /** Told of every approval that it waits for: of the call itself, of what it does, of what it calls. */
  readonly asked?: (approval: string) => void;
  /** `false`: return as soon as it is parked, with status BLOCKED; `resume` waits for the rest. */
  readonly wait?: boolean;
}

export interface ToolResult {
  readonly id: string;
  readonly status: ToolCallStatus;
  /** What the tool returned. */
  readonly output?: object;
  /** Why it was refused or failed, in words for the agent. */
  readonly reason?: string;
  readonly rule?: string;
  /** What to do instead, where there is such a thing. */
  readonly instead?: string;
  readonly approval?: string;
  readonly approvedBy?: string;
}
