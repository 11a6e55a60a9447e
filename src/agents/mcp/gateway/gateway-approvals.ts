import { randomUUID } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import { loadConfig, optionsOf } from "../../../intent/guard/config/load.js";
import type { MergedConfig } from "../../../intent/guard/config/tighten.js";
import type { Finding } from "../../../intent/guard/finding.js";
import type { Guard } from "../../../intent/guard/guard.js";
import { hostGuard } from "../../../intent/guard/host.js";
import { ToolPins, toolDigest } from "../../../intent/guard/mcp/pins.js";
import type { Approver } from "../../../people/approval/approver.js";
import { openQueue } from "../../../people/approval/open.js";
import type { Queue } from "../../../people/approval/queue.js";
import { Audit } from "../../../record/audit/audit.js";
import { openStore, stateFolder } from "../../../record/store/open.js";
import type { Store, ToolCallStatus } from "../../../record/store/store.js";
import { approvedBackend } from "../../tools/approved-backend.js";
import type { Backend } from "../../tools/backend.js";
import { Ledger } from "../../tools/ledger.js";
import { LocalBackend } from "../../tools/local.js";
import { newSession, recover } from "../../tools/session.js";
import type { ToolIntent } from "../../tools/tool.js";
import type { GatewayServer } from "./servers.js";

interface GatewayApprovalsOptions {
  readonly workspace: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly home?: string;
  readonly store?: string;
  /** Do not look up packages on the network. */
  readonly offline?: boolean;
  /** Approvers besides the queue's own. */
  readonly approvers?: readonly Approver[];
  readonly report: (text: string) => void;
}

/** The guard, the approvals, the audit and the pins of the gateway. One session for all servers. */
export class GatewayApprovals {
  readonly session: string;
  readonly guard: Guard;
  readonly merged: MergedConfig;
  readonly approvals: Queue;
  readonly pins: ToolPins;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly state: string;
  readonly report: (text: string) => void;
  readonly #store: Store;
  readonly #audit: Audit;
  readonly #ledger: Ledger;
  readonly #backend = new LocalBackend();

  static async open(options: GatewayApprovalsOptions): Promise<GatewayApprovals> {
    const { workspace, env = process.env, home = homedir(), report } = options;
    const places = { workspace, home, env };
    const merged = loadConfig(places);
    const guard = hostGuard({ ...(await optionsOf(merged)), workspace, home, online: !options.offline });
    const store = await openStore(options.store, { env, home });
    const audit = Audit.open(store);
    await recover(store, audit);
    const session = await newSession(store, audit, workspace, "hermes mcp-gateway");
    const { approvers = [] } = options;
    const approvals = openQueue({ store, audit, places, approvers, problem: report });
    return new GatewayApprovals(options, { session, guard, merged, approvals, store, audit, env, home });
  }

  private constructor(
    { report }: GatewayApprovalsOptions,
    parts: Pick<GatewayApprovals, "session" | "guard" | "merged" | "approvals" | "env" | "home"> & {
      store: Store;
      audit: Audit;
    },
  ) {
    this.session = parts.session;
    this.guard = parts.guard;
    this.merged = parts.merged;
    this.approvals = parts.approvals;
    this.env = parts.env;
    this.home = parts.home;
    this.state = stateFolder(parts.env, parts.home);
    this.pins = new ToolPins(join(this.state, "mcp-pins.json"));
    this.report = report;
    this.#store = parts.store;
    this.#audit = parts.audit;
    this.#ledger = new Ledger(parts.store, parts.audit, parts.session);
  }

  /** Whether the guard and the approvers let a server start; calls `waits` when an approver is asked. */
  async admit(
    { name, command, args, env }: GatewayServer,
    waits: () => void,
  ): Promise<{ readonly call: string; readonly approved: string[] }> {
    const call = randomUUID();
    const argv = [command, ...args];
    const subject = (variables: object) =>
      ({
        kind: "mcp",
        input: JSON.stringify({ mcpServers: { [name]: { command, args, env: variables } } }),
      }) as const;
    const { action, findings } = await this.guard.judge(subject(env));
    const what = `start the MCP server ${name}: ${argv.join(" ")}`;
    const digest = toolDigest(["hermes mcp launch", 1, name, argv, Object.keys(env)]);
    const status = action === "allow" ? "RUNNING" : action === "ask" ? "PENDING" : "REFUSED";
    // The server's secrets must not be recorded.
    const given = Object.fromEntries(Object.keys(env).map((variable) => [variable, "…"]));
    const intent = { what, subject: subject(given), action, findings, digest };
    await this.begin(call, "mcp_server", { name, command, args }, intent, status);
    if (action === "deny") return this.#refuse(call, reasons(findings, "deny"));
    if (action === "allow") return { call, approved: [] };
    const { granted, note } = await this.approvals.request(
      { kind: "TOOL_CALL", session: this.session, toolCall: call, what, digest, findings, argv },
      {
        parked: (id) => {
          this.report(`${name}: it waits for an approval: hermes approvals show ${id}`);
          waits();
        },
      },
    );
    if (!granted)
      return this.#refuse(call, note ?? "Refused by an approver or by a rule of the configuration.");
    await this.#ledger.running(call);
    return { call, approved: findings.flatMap((one) => (one.action === "ask" ? [one.rule] : [])) };
  }

  async #refuse(call: string, reason: string): Promise<never> {
    await this.end(call, "REFUSED", reason);
    throw new Error(reason);
  }

  /** Asks about a call of a tool for which the operator demands it. */
  async consent(call: string, intent: ToolIntent, signal: AbortSignal): Promise<void> {
    const { what, digest, findings } = intent;
    const { granted, note } = await this.approvals.request(
      { kind: "TOOL_CALL", session: this.session, toolCall: call, what, digest, findings },
      { signal, parked: (id) => this.report(`it waits for an approval: hermes approvals show ${id}`) },
    );
    if (!granted) throw new Error(note ?? "Refused by an approver or by a rule of the configuration.");
    await this.#ledger.running(call);
  }

  /** Records a call that never reaches a server. */
  async refused(tool: string, input: unknown, reason: string): Promise<void> {
    const id = randomUUID();
    const finding: Finding = { layer: "mcp", rule: "withheld", action: "deny", reason };
    const intent: ToolIntent = { what: tool, action: "deny", findings: [finding], digest: "" };
    await this.begin(id, tool, input, intent, "REFUSED");
    await this.end(id, "REFUSED", reason);
  }

  begin(id: string, tool: string, input: unknown, intent: ToolIntent, status: ToolCallStatus): Promise<void> {
    return this.#ledger.begin(id, tool, input, intent, status);
  }

  end(id: string, status: ToolCallStatus, reason?: string): Promise<void> {
    return this.#ledger.end(id, status, undefined, reason);
  }

  /** The backend for the server of this launch. */
  backendFor(call: string): Backend {
    return approvedBackend(this.#backend, this.approvals, this.#ledger, call);
  }

  async close(): Promise<void> {
    await this.#backend.close();
    await this.#store.endSession(this.session, Date.now());
    await this.#audit.record("session", { what: "closed" }, { session: this.session });
    this.#audit.close();
    await this.#store.close();
  }
}

function reasons(findings: readonly Finding[], action: Finding["action"]): string {
  return findings.flatMap((one) => (one.action === action ? [one.reason] : [])).join(" ");
}
