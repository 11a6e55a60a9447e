import type { Action, Finding } from "../../intent/guard/finding.js";
import type { Kind } from "../../intent/guard/subject.js";
import type { VerdictAction } from "../../nouns/verdict.js";
import type { ApprovalKind, ApprovalScope, ApprovalState, ToolCallStatus } from "../store/store.js";

/** The fields of a record, by its kind. Plain data; secrets are removed when it is written. */
export interface AuditBodies {
  readonly session: SessionBody;
  readonly "tool-call": ToolCallBody;
  readonly "approval-asked": ApprovalAskedBody;
  readonly "approval-answered": ApprovalAnsweredBody;
  readonly deed: RuntimeCheckBody;
  readonly outcome: OutcomeBody;
  readonly policy: PolicyBody;
  readonly config: ConfigBody;
}

export type AuditKind = keyof AuditBodies;

export const AUDIT_KINDS = [
  "session",
  "tool-call",
  "approval-asked",
  "approval-answered",
  "deed",
  "outcome",
  "policy",
  "config",
] as const satisfies readonly AuditKind[];

/** An agent began or ended its work. */
interface SessionBody {
  readonly what: "opened" | "closed";
  readonly agent?: string;
  readonly workspace?: string;
  readonly pid?: number;
  /** What the host is to say about it: the program's version, protections in force. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** A tool was called, and what the guard thought of it. `replay` has today's guard judge `kind` and `input` again. */
export interface ToolCallBody {
  readonly id: string;
  readonly tool: string;
  /** What the guard judged it as; absent when it is nothing that the guard knows. */
  readonly kind?: Kind;
  /** What the guard judged: the command, the path, the URL, the program. */
  readonly input: string;
  /** What else it was told: `access: "write"`, the working directory as `cwd`. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly action: Action;
  readonly findings: readonly Finding[];
}

interface ApprovalAskedBody {
  readonly id: string;
  readonly kind: ApprovalKind;
  readonly toolCall?: string;
  readonly what: string;
  readonly digest: string;
  /** Approval keys of the findings that ask. */
  readonly keys: readonly string[];
  readonly expires: number;
}

interface ApprovalAnsweredBody {
  /** Absent when nothing was parked: a standing permission, a mode or a rule answered. */
  readonly id?: string;
  readonly toolCall?: string;
  readonly what: string;
  readonly digest: string;
  readonly state: ApprovalState;
  readonly scope?: ApprovalScope;
  readonly by: string;
  readonly note?: string;
}

/** What the kernel plane decided on a system call. `replay` has today's policies decide on `call` again. */
export interface RuntimeCheckBody {
  readonly toolCall?: string;
  /** As a trace has it (docs/reference/trace-format.md): name, args, path, address, argv … */
  readonly call?: Readonly<Record<string, unknown>> & { readonly name: string };
  /** In words: `run rm -rf /`, `connect 169.254.169.254:80`. */
  readonly what: string;
  /** What the policies decided, before an approver was asked. */
  readonly action: VerdictAction;
  readonly reason?: string;
  readonly rule?: string;
  readonly policy?: string;
  readonly version?: string;
  /** How often the same happened. */
  readonly times?: number;
}

/** How a tool call ended. */
interface OutcomeBody {
  readonly id: string;
  readonly status: ToolCallStatus;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly timedOut?: boolean;
  readonly truncated?: boolean;
  readonly durationMs?: number;
  readonly reason?: string;
}

/** A policy came into force. */
interface PolicyBody {
  readonly name: string;
  readonly version: string;
  readonly file?: string;
}

/** Something that decides was changed: a standing permission, the approvals' mode, a key. */
export interface ConfigBody {
  readonly what: string;
  readonly by?: string;
  readonly file?: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}
