/**
 * Durable state: sessions of agents, their tool calls, approvals, policies, and the audit. There are two engines, SQLite
 * (one machine, no server) and PostgreSQL (many hosts). One test suite checks both:
 *
 * - writes are durable when a method returns;
 * - changes that belong together are one transaction, so that a crash leaves none or all of them;
 * - where several processes try the same change, the first one wins and the others see its result.
 *
 * Times are milliseconds since 1970. Callers remove secrets from free text before they write it here.
 */
export interface Store {
  readonly engine: "sqlite" | "postgres";
  /** For people: the file, or the server and its database; never with a password. */
  readonly name: string;
  /** Files of this host that belong to it have this name and something behind it: `hermes.db` + `.host`. */
  readonly beside: string;

  openSession(session: NewSession): Promise<void>;
  endSession(id: string, time: number): Promise<void>;
  session(id: string): Promise<SessionRow | undefined>;
  sessions(filter?: { readonly open?: boolean; readonly limit?: number }): Promise<readonly SessionRow[]>;

  addToolCall(call: NewToolCall): Promise<void>;
  /** Changes nothing, and returns false, when its status is not one of `from`. */
  changeToolCall(id: string, from: readonly ToolCallStatus[], change: ToolCallChange): Promise<boolean>;
  toolCall(id: string): Promise<ToolCallRow | undefined>;
  /** Newest first. */
  toolCalls(filter?: ToolCallFilter): Promise<readonly ToolCallRow[]>;

  /** Adds it and, in the same transaction, parks the tool call that it is about as BLOCKED. */
  park(approval: NewApproval): Promise<void>;
  /** First answer wins: the row as it is afterwards, and whether it was this answer that made it so. */
  answer(id: string, answer: ApprovalAnswer): Promise<{ readonly mine: boolean; readonly row: ApprovalRow }>;
  /** Leases the oldest question that no other approver looks at, until then. Other approvers may still answer it. */
  claim(by: string, now: number, until: number): Promise<ApprovalRow | undefined>;
  /** A grant is spent once: true for exactly one caller. */
  spend(id: string, time: number): Promise<boolean>;
  approval(id: string): Promise<ApprovalRow | undefined>;
  /** Oldest first. */
  approvals(filter?: ApprovalFilter): Promise<readonly ApprovalRow[]>;
  /** Pending approvals whose time is over become expired; returns them. */
  expire(now: number): Promise<readonly ApprovalRow[]>;

  /** A standing permission was given or taken back; the configuration file is what counts, this is its history. */
  addAllowance(allowance: AllowanceRow): Promise<void>;
  allowances(): Promise<readonly AllowanceRow[]>;

  rememberPolicy(policy: PolicyRow): Promise<void>;
  policy(version: string): Promise<PolicyRow | undefined>;

  /** Adds it to the end of the chain of `chain` (one per host); number and hashes are the store's to make. */
  appendAudit(chain: string, entry: AuditEntry, seal: Seal): Promise<AuditRow>;
  /** In the order of the chain, fetched in blocks. */
  audit(filter?: AuditFilter): AsyncIterable<AuditRow>;
  /** The last record of every chain. */
  chainEnds(): Promise<readonly ChainEnd[]>;
  /** What is known of chains besides their records. */
  chains(): Promise<readonly ChainRow[]>;
  /** Gives up the beginning of a chain, up to this record, which must be there; where it begins now is kept. */
  trimAudit(chain: string, upTo: number): Promise<void>;

  /** Calls back soon after another process (or this one) changed approvals. Returns how to stop that. */
  onApprovals(changed: () => void): () => void;
  close(): Promise<void>;
}

/** An agent at work: it calls tools, each of which may start a supervised run. */
export interface NewSession {
  readonly id: string;
  readonly started: number;
  readonly host: string;
  /** The process that runs the tools, and when it started (clock ticks since boot): together they name it for ever. */
  readonly pid: number;
  readonly pidStarted: number;
  readonly workspace: string;
  /** Who it works for, as its builder calls it. */
  readonly agent: string;
}

export interface SessionRow extends NewSession {
  readonly ended: number | null;
}

export const TOOL_CALL_STATUSES = [
  "PENDING",
  /** Parked until an approver answers. */
  "BLOCKED",
  "RUNNING",
  "DONE",
  "FAILED",
  "REFUSED",
  "CANCELLED",
] as const;
export type ToolCallStatus = (typeof TOOL_CALL_STATUSES)[number];

export interface NewToolCall {
  readonly id: string;
  readonly session: string;
  readonly tool: string;
  /** JSON, without secrets. */
  readonly input: string;
  /** What it was judged as. Of the input as it came, secrets included: equal digests mean the same call. */
  readonly digest: string;
  readonly created: number;
  readonly status: ToolCallStatus;
}

export interface ToolCallChange {
  readonly status: ToolCallStatus;
  readonly started?: number;
  readonly ended?: number;
  /** JSON: the capped capture, the reason of a refusal. */
  readonly output?: string;
}

export interface ToolCallRow extends NewToolCall {
  readonly started: number | null;
  readonly ended: number | null;
  readonly output: string | null;
}

export interface ToolCallFilter {
  readonly session?: string;
  readonly status?: readonly ToolCallStatus[];
  readonly limit?: number;
}

/** TOOL_CALL: before it runs. DEED: while it runs, at a system call. */
export type ApprovalKind = "TOOL_CALL" | "DEED";
export type ApprovalState = "pending" | "granted" | "refused" | "expired" | "withdrawn";
export type ApprovalScope = "once" | "session" | "always";

export interface NewApproval {
  readonly id: string;
  readonly kind: ApprovalKind;
  readonly session: string;
  readonly toolCall: string | null;
  readonly created: number;
  readonly expires: number;
  /** What exactly is approved: argv, cwd, names of variables, contents of scripts. */
  readonly digest: string;
  /** JSON: approval keys of the findings that ask, e.g. `["recursive delete"]`. */
  readonly keys: string;
  /** One line for a person. */
  readonly what: string;
  /** JSON that helps to decide: findings, explanation, parts, diff. Without secrets. */
  readonly detail: string;
}

export interface ApprovalRow extends NewApproval {
  readonly state: ApprovalState;
  readonly scope: ApprovalScope | null;
  readonly answered: number | null;
  /** `terminal:root`, `cli:root`, `console:alice`, `webhook:pager`, `auto`, `rule:…` */
  readonly answeredBy: string | null;
  /** A word to the agent. */
  readonly note: string | null;
  /** When a grant for once was used. */
  readonly spent: number | null;
}

export interface ApprovalAnswer {
  readonly state: Exclude<ApprovalState, "pending">;
  readonly scope?: ApprovalScope;
  readonly by: string;
  readonly note?: string;
  readonly time: number;
}

export interface ApprovalFilter {
  readonly kind?: ApprovalKind;
  readonly state?: readonly ApprovalState[];
  readonly session?: string;
  readonly toolCall?: string;
  readonly digest?: string;
  /** Not older than this. */
  readonly since?: number;
  readonly limit?: number;
}

export interface AllowanceRow {
  readonly key: string;
  readonly given: boolean;
  readonly by: string;
  readonly time: number;
}

export interface PolicyRow {
  readonly version: string;
  readonly name: string;
  readonly text: string;
  readonly time: number;
}

export interface AuditEntry {
  readonly time: number;
  readonly session: string | null;
  /** `tool-call`, `approval-asked`, `approval-answered`, `deed`, `outcome`, `session`, `policy`, `config` … */
  readonly kind: string;
  /** JSON, without secrets. */
  readonly body: string;
}

export interface AuditRow extends AuditEntry {
  readonly chain: string;
  /** From 1, without gaps. */
  readonly seq: number;
  /** Hash of the record before; of the first one: 64 zeros. */
  readonly previous: string;
  readonly hash: string;
  /** ed25519 over the hash, base64; null when the chain is not signed. */
  readonly signature: string | null;
}

/** The hash before the first record of a chain. */
export const CHAIN_START = "0".repeat(64);

/** Makes hash and signature of a record from its fields and from the hash before; src/record/audit knows how. */
export type Seal = (row: Omit<AuditRow, "hash" | "signature">) => Pick<AuditRow, "hash" | "signature">;

export interface AuditFilter {
  readonly chain?: string;
  readonly session?: string;
  readonly kind?: readonly string[];
  readonly since?: number;
  readonly until?: number;
  /** Behind this number of its chain. */
  readonly after?: number;
  /** Only the newest so many of one chain. */
  readonly last?: number;
}

export type ChainEnd = Pick<AuditRow, "chain" | "seq" | "hash">;

/** A chain whose beginning was given up, or which a host delivers. */
export interface ChainRow {
  readonly chain: string;
  /** Of a fleet (src/fleet): who delivers it, and how far it has come. */
  readonly host: string | null;
  readonly seq: number;
  readonly hash: string;
  /** The last record that is not kept any more; 0 when all are. */
  readonly keptSeq: number;
  readonly keptHash: string;
  /** The public key of its host, PEM. */
  readonly key: string | null;
}
