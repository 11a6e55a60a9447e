import { AuditQueue } from "./audit-queue.js";
import { type SqlEngine, storeError } from "./engine.js";
import * as operations from "./operations.js";
import type { Operation } from "./sql.js";
import type {
  AllowanceRow,
  ApprovalAnswer,
  ApprovalFilter,
  AuditEntry,
  AuditFilter,
  AuditRow,
  NewApproval,
  NewSession,
  NewToolCall,
  PolicyRow,
  Seal,
  Store,
  ToolCallChange,
  ToolCallFilter,
  ToolCallStatus,
} from "./store.js";

/** Records that are fetched at once. */
const BLOCK = 100;

/** The store, whichever engine keeps it. */
export class SqlStore implements Store {
  readonly #engine: SqlEngine;
  readonly #appends: AuditQueue;

  constructor(engine: SqlEngine) {
    this.#engine = engine;
    this.#appends = new AuditQueue((chain, entries) =>
      engine.write(() => operations.appendAudit(engine.dialect, chain, entries)),
    );
  }

  get engine() {
    return this.#engine.dialect;
  }
  get name() {
    return this.#engine.name;
  }
  get beside() {
    return this.#engine.beside;
  }

  openSession = (session: NewSession) => this.#write(() => operations.openSession(session));
  endSession = (id: string, time: number) => this.#write(() => operations.endSession(id, time));
  session = (id: string) => this.#read(() => operations.session(id));
  sessions = (filter?: { open?: boolean; limit?: number }) => this.#read(() => operations.sessions(filter));

  addToolCall = (call: NewToolCall) => this.#write(() => operations.addToolCall(call));
  changeToolCall = (id: string, from: readonly ToolCallStatus[], change: ToolCallChange) =>
    this.#write(() => operations.changeToolCall(id, from, change));
  toolCall = (id: string) => this.#read(() => operations.toolCall(id));
  toolCalls = (filter?: ToolCallFilter) => this.#read(() => operations.toolCalls(filter));

  park = (approval: NewApproval) => this.#write(() => operations.park(approval), "approvals");
  answer = (id: string, answer: ApprovalAnswer) =>
    this.#write(() => operations.answer(this.engine, id, answer), "approvals");
  claim = (by: string, now: number, until: number) =>
    this.#write(() => operations.claim(this.engine, by, now, until));
  spend = (id: string, time: number) => this.#write(() => operations.spend(id, time), "approvals");
  approval = (id: string) => this.#read(() => operations.approval(id));
  approvals = (filter?: ApprovalFilter) => this.#read(() => operations.approvals(filter));
  expire = async (now: number) => {
    // Asked often, and there is seldom something to write.
    const due = await this.#read(() => operations.due(this.engine, now));
    return due ? this.#write(() => operations.expire(this.engine, now), "approvals") : [];
  };

  addAllowance = (allowance: AllowanceRow) => this.#write(() => operations.addAllowance(allowance));
  allowances = () => this.#read(() => operations.allowances());
  rememberPolicy = (policy: PolicyRow) => this.#write(() => operations.rememberPolicy(policy));
  policy = (version: string) => this.#read(() => operations.policy(version));

  appendAudit = (chain: string, entry: AuditEntry, seal: Seal) =>
    this.#named(this.#appends.add(chain, { entry, seal }));
  chains = () => this.#read(() => operations.chains());
  trimAudit = (chain: string, upTo: number) => this.#write(() => operations.trimAudit(chain, upTo));
  chainEnds = () => this.#read(() => operations.chainEnds());

  async *audit(filter: AuditFilter = {}): AsyncGenerator<AuditRow> {
    const { last } = filter;
    if (last !== undefined) {
      yield* await this.#read(() => operations.newestAudit(filter, last));
      return;
    }
    for (let from: AuditRow | undefined; ; ) {
      const rows = await this.#read(() => operations.auditBlock(filter, from, BLOCK));
      yield* rows;
      if (rows.length < BLOCK) return;
      from = rows.at(-1)!;
    }
  }

  onApprovals = (changed: () => void) => this.#engine.onApprovals(changed);
  close = async () => {
    await this.#appends.written();
    await this.#engine.close();
  };

  #read<T>(operation: () => Operation<T>): Promise<T> {
    return this.#named(this.#engine.read(operation));
  }

  #write<T>(operation: () => Operation<T>, about?: "approvals"): Promise<T> {
    return this.#named(this.#engine.write(operation, about));
  }

  /** Errors name the store. */
  async #named<T>(promise: Promise<T>): Promise<T> {
    try {
      return await promise;
    } catch (error) {
      throw storeError(this.name, error);
    }
  }
}
