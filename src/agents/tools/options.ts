import type { Profile } from "../../intent/guard/layer.js";
import type { Approver } from "../../people/approval/approver.js";
import type { Store, ToolCallStatus } from "../../record/store/store.js";
import type { Thread } from "../../session/thread.js";
import type { Backend } from "./backend.js";
import type { ToolCall } from "./tool.js";

export interface ToolboxOptions {
  /**
   * The folder that the agent works in; writes outside it are refused. Default: HERMES_WORKSPACE, else the working
   * directory, unless that is a home or larger.
   */
  readonly workspace?: string;
  readonly home?: string;
  /** The environment for commands, before secrets are removed. Default: our own. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The agent's name in the records. */
  readonly agent?: string;
  /** Where rows and records are stored: an open store, a path or a URL. Default: docs/reference/store.md. */
  readonly store?: Store | string;
  /** Approvers, besides `hermes approvals`. */
  readonly approvers?: readonly Approver[];
  /** Where commands run. Default: on this machine. */
  readonly backend?: Backend;
  readonly profile?: Profile;
  /** Let the guard use the network (DNS, advisories). */
  readonly online?: boolean;
  /** Maximum timeout of a command, in seconds. Default: 120. */
  readonly longestTimeout?: number;
  /** Only these tools. Default: all. */
  readonly tools?: readonly string[];
  /** Called once with the profile that is in force, and whether this is the first session of the store. */
  readonly inForce?: (text: string, isFirst: boolean) => void;
  /** Called with problems that an operator should see. */
  readonly problem?: (text: string) => void;
  /** @internal A supervisor thread that was started early, for commands on this machine. */
  readonly thread?: Thread;
}

export interface CallOptions {
  /** Aborting ends everything that the call started. */
  readonly signal?: AbortSignal;
  /** Called with a command's output as it arrives. */
  readonly onOutput?: (stream: "stdout" | "stderr", bytes: Buffer) => void;
  /** @internal Our own stdin is the command's. */
  readonly givesStdin?: boolean;
  /** @internal Called with a command that has started. */
  readonly started?: ToolCall["started"];
  /** Called for every approval that the call waits for, also those of nested calls. */
  readonly asked?: (approval: string) => void;
  /** `false`: return with status BLOCKED as soon as the call is parked; `resume` waits for the rest. */
  readonly wait?: boolean;
}

export interface ToolResult {
  readonly id: string;
  readonly status: ToolCallStatus;
  /** What the tool returned. */
  readonly output?: object;
  /** Why the call was refused or failed, as a message to the agent. */
  readonly reason?: string;
  readonly rule?: string;
  /** An alternative for the agent, if there is one. */
  readonly instead?: string;
  /** What a person types to let it happen from the next call on. */
  readonly allow?: string;
  readonly approval?: string;
  readonly approvedBy?: string;
}
