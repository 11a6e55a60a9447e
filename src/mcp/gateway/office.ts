import { randomUUID } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Approver } from "../../approval/approver.js";
import { Queue } from "../../approval/queue.js";
import { Audit } from "../../audit/audit.js";
import { loadConfig, optionsOf, userFile } from "../../guard/config/load.js";
import type { Merged } from "../../guard/config/tighten.js";
import type { Finding } from "../../guard/finding.js";
import type { Guard } from "../../guard/guard.js";
import { hostGuard } from "../../guard/host.js";
import { ToolPins, toolDigest } from "../../guard/mcp/pins.js";
import { openStore, stateFolder } from "../../store/open.js";
import type { Store, ToolCallStatus } from "../../store/store.js";
import { attended } from "../../tools/attended.js";
import type { Backend } from "../../tools/backend.js";
import { Ledger } from "../../tools/ledger.js";
import { LocalBackend } from "../../tools/local.js";
import { newSession, recover } from "../../tools/session.js";
import type { Intent } from "../../tools/tool.js";
import type { GatewayServer } from "./servers.js";

export interface OfficeOptions {
  readonly workspace: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly home?: string;
  readonly store?: string;
  /** Ask nobody on the network about packages. */
  readonly offline?: boolean;
  /** Who is asked besides the queue. */
  readonly approvers?: readonly Approver[];
  readonly report: (text: string) => void;
}

/** What the gateway decides by and writes into: the guard, the approvals, the audit, the pins. One session for all servers. */
export class Office {
  readonly session: string;
  readonly guard: Guard;
  readonly merged: Merged;
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

  static async open(options: OfficeOptions): Promise<Office> {
    const { workspace, env = process.env, home = homedir(), report } = options;
    const places = { workspace, home, env };
    const merged = loadConfig(places);
    const guard = hostGuard({ ...(await optionsOf(merged)), workspace, home, online: !options.offline });
    const store = await openStore(options.store, { env, home });
    const audit = Audit.open(store);
    await recover(store, audit);
    const session = await newSession(store, audit, workspace, "hermes mcp-gateway");
    const approvals = new Queue({
      store,
      config: () => loadConfig(places).config.approvals,
      workspace,
      userFile: userFile(places),
      approvers: options.approvers ?? [],
      problem: report,
      audit,
    });
    return new Office(options, { session, guard, merged, approvals, store, audit, env, home });
  }

  private constructor(
    { report }: OfficeOptions,
    parts: Pick<Office, "session" | "guard" | "merged" | "approvals" | "env" | "home"> & {
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

  /** Whether a server may be started, by the guard, and by whoever is asked; `waits` is told when somebody is. */
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
    // What a server is given in confidence is not for the record.
    const given = Object.fromEntries(Object.keys(env).map((variable) => [variable, "…"]));
    const intent = { what, subject: subject(given), action, findings, digest };
    await this.begin(call, "mcp_server", { name, command, args }, intent, status);
    if (action === "deny") return this.#refuse(call, reasons(findings, "deny"));
    if (action === "allow") return { call, approved: [] };
    const { granted, note } = await this.approvals.request(
      { kind: "TOOL_CALL", session: this.session, toolCall: call, what, digest, findings, argv },
      {
        parked: (id) => {
          this.report(`${name}: it waits for: hermes approvals show ${id}`);
          waits();
        },
      },
    );
    if (!granted) return this.#refuse(call, note ?? "A person, or a rule of theirs, refused it.");
    await this.#ledger.running(call);
    return { call, approved: findings.flatMap((one) => (one.action === "ask" ? [one.rule] : [])) };
  }

  async #refuse(call: string, reason: string): Promise<never> {
    await this.end(call, "REFUSED", reason);
    throw new Error(reason);
  }

  /** A call of a tool that the operator wants to be asked about. */
  async consent(call: string, intent: Intent, signal: AbortSignal): Promise<void> {
    const { what, digest, findings } = intent;
    const { granted, note } = await this.approvals.request(
      { kind: "TOOL_CALL", session: this.session, toolCall: call, what, digest, findings },
      { signal, parked: (id) => this.report(`it waits for: hermes approvals show ${id}`) },
    );
    if (!granted) throw new Error(note ?? "A person, or a rule of theirs, refused it.");
    await this.#ledger.running(call);
  }

  /** A call that does not get as far as a server. */
  async refused(tool: string, input: unknown, reason: string): Promise<void> {
    const id = randomUUID();
    const finding: Finding = { layer: "mcp", rule: "withheld", action: "deny", reason };
    const intent: Intent = { what: tool, action: "deny", findings: [finding], digest: "" };
    await this.begin(id, tool, input, intent, "REFUSED");
    await this.end(id, "REFUSED", reason);
  }

  begin(id: string, tool: string, input: unknown, intent: Intent, status: ToolCallStatus): Promise<void> {
    return this.#ledger.begin(id, tool, input, intent, status);
  }

  end(id: string, status: ToolCallStatus, reason?: string): Promise<void> {
    return this.#ledger.end(id, status, undefined, reason);
  }

  /** Where the server of this launch runs. */
  backendFor(call: string): Backend {
    return attended(this.#backend, this.approvals, this.#ledger, call);
  }

  async close(): Promise<void> {
    await this.#backend.close();
    await this.#store.endSession(this.session, Date.now());
    await this.#audit.record("session", { what: "closed" }, { session: this.session });
    this.#audit.close();
    await this.#store.close();
  }
}

export function reasons(findings: readonly Finding[], action: Finding["action"]): string {
  return findings.flatMap((one) => (one.action === action ? [one.reason] : [])).join(" ");
}
