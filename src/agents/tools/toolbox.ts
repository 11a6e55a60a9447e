import { randomUUID } from "node:crypto";
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { loadConfig, optionsOf } from "../../intent/guard/config/load.js";
import { profileText } from "../../intent/guard/config/profile-text.js";
import { CredentialFiles } from "../../intent/guard/credentials/registry.js";
import { entryAgainst } from "../../intent/guard/entry-against.js";
import { FileTracker } from "../../intent/guard/files/tracker.js";
import type { Finding } from "../../intent/guard/finding.js";
import { hostFiles, hostGuard } from "../../intent/guard/host.js";
import { HermesError } from "../../nouns/errors.js";
import { checkWorkspace, workspaceOf } from "../../nouns/workspace.js";
import type { ApprovalOutcome } from "../../people/approval/approvals.js";
import { allowCommand } from "../../people/approval/how-to-allow.js";
import { openQueue } from "../../people/approval/open.js";
import type { Queue } from "../../people/approval/queue.js";
import { Audit } from "../../record/audit/audit.js";
import { openStore } from "../../record/store/open.js";
import type { Store } from "../../record/store/store.js";
import { approvedBackend } from "./approved-backend.js";
import { backendOf } from "./backends.js";
import { loadTools } from "./catalogue.js";
import { type FunctionDefinition, functionDefinition } from "./definition.js";
import { Ledger } from "./ledger.js";
import type { CallOptions, ToolboxOptions, ToolResult } from "./options.js";
import { sweepScratch } from "./scratch.js";
import { newSession, recover } from "./session.js";
import { Background } from "./terminal/background.js";
import {
  type Tool,
  type ToolCall,
  type ToolContext,
  ToolError,
  type ToolIntent,
  ToolRefusal,
} from "./tool.js";

interface ToolboxParts {
  readonly session: string;
  readonly store: Store;
  readonly ownsStore: boolean;
  readonly audit: Audit;
  readonly approvals: Queue;
  readonly world: ToolContext;
  readonly background: Background;
  readonly tools: ReadonlyMap<string, Tool>;
}

/**
 * READ FIRST for the tools. One call from start to end: check the input; ask the tool what it would do (`judge`); write the
 * call as a row and a record; park it until an approver answers, if it needs approval; run it (`run`), with the supervisor
 * enforcing the judgement; record the outcome. No call runs without a record.
 */
export class Toolbox {
  readonly session: string;
  readonly #store: Store;
  readonly #ownsStore: boolean;
  readonly #audit: Audit;
  readonly #ledger: Ledger;
  readonly #approvals: Queue;
  readonly #background: Background;
  readonly #world: ToolContext;
  readonly #tools: ReadonlyMap<string, Tool>;
  /** Calls that wait for an approver, with their eventual results. */
  readonly #parked = new Map<string, Promise<ToolResult>>();
  readonly #running = new Set<AbortController>();
  /** Calls whose outcome is not recorded yet. */
  readonly #open = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  static async open(options: ToolboxOptions = {}): Promise<Toolbox> {
    const env = options.env ?? process.env;
    const home = options.home ?? homedir();
    const named = workspaceOf(".", options.workspace, env);
    checkWorkspace(named, "the tools", home);
    const workspace = realpathSync.native(named.folder);
    const places = { workspace, home, env };
    const { config, atLeast } = loadConfig(places);
    const profile = options.profile ?? config.profile;
    const guard = hostGuard({
      ...(await optionsOf({ config, atLeast })),
      workspace,
      home,
      ...(options.profile && { profile: options.profile }),
      ...(options.online !== undefined && { online: options.online }),
    });
    const store =
      typeof options.store === "object" ? options.store : await openStore(options.store, { env, home });
    const audit = Audit.open(store);
    await recover(store, audit);
    await sweepScratch();
    if (options.inForce) {
      const isFirst = (await store.sessions({ limit: 1 })).length === 0;
      options.inForce(profileText(profile, places), isFirst);
    }
    const session = await newSession(store, audit, workspace, options.agent ?? "agent");
    const approvals = openQueue({
      store,
      audit,
      places,
      ...(options.approvers && { approvers: options.approvers }),
      ...(options.problem && { problem: options.problem }),
    });
    const agentHome = env.HERMES_HOME ?? resolve(home, ".hermes");
    const world: ToolContext = {
      closed: [realPlace(store.beside), ...ownFolder(agentHome, [workspace, home])],
      closedExcept: [`${realPlace(agentHome)}/skills/`],
      declared: new Set(),
      workspace,
      home,
      session,
      guard,
      config,
      atLeast,
      backend: options.backend ?? (await backendOf(config, options.thread)),
      files: new FileTracker({ warnAfter: config.files.re_read_warn, stopAfter: config.files.re_read_stop }),
      credentials: new CredentialFiles(agentHome, hostFiles),
      env,
      // The strict profile caps the command line as it caps a model.
      ...(options.longestTimeout !== undefined &&
        profile !== "strict" && { longestTimeout: options.longestTimeout }),
    };
    const background = new Background();
    const tools = await loadTools(background, options.tools);
    const ownsStore = typeof options.store !== "object";
    return new Toolbox({ session, store, ownsStore, audit, approvals, world, background, tools });
  }

  private constructor(parts: ToolboxParts) {
    this.session = parts.session;
    this.#store = parts.store;
    this.#ownsStore = parts.ownsStore;
    this.#audit = parts.audit;
    this.#ledger = new Ledger(parts.store, parts.audit, parts.session);
    this.#approvals = parts.approvals;
    this.#world = parts.world;
    this.#background = parts.background;
    this.#tools = parts.tools;
  }

  get approvals(): Queue {
    return this.#approvals;
  }

  get credentials(): CredentialFiles {
    return this.#world.credentials;
  }

  get tools(): readonly Tool[] {
    return [...this.#tools.values()];
  }

  /** The tools as function-calling definitions. */
  get definitions(): readonly FunctionDefinition[] {
    return this.tools.map(functionDefinition);
  }

  /** Runs a call or returns why it was refused. Rejects only when the call could not be recorded. */
  async call(name: string, input: unknown, options: CallOptions = {}): Promise<ToolResult> {
    this.#mustBeOpen();
    return this.#keep(this.#perform(randomUUID(), name, input, options));
  }

  /** Waits for the answer to a parked call (`wait: false`, also of an earlier process), then runs it. */
  async resume(id: string, options: CallOptions = {}): Promise<ToolResult> {
    const parked = this.#parked.get(id);
    if (parked) return parked;
    this.#mustBeOpen();
    const row = await this.#store.toolCall(id);
    if (row?.status !== "BLOCKED")
      throw new HermesError("USAGE", {
        message: `call ${id} is not parked${row ? `: its status is ${row.status}` : ""}`,
      });
    await this.#store.changeToolCall(id, ["BLOCKED"], { status: "CANCELLED", ended: Date.now() });
    return this.call(row.tool, JSON.parse(row.input), options);
  }

  /** Ends running calls and waits until their outcomes are recorded. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const controller of this.#running) controller.abort(new Error(CLOSED));
    await this.#background.close();
    await this.#world.backend.close();
    while (this.#open.size > 0) await Promise.allSettled(this.#open);
    await this.#store.endSession(this.session, Date.now());
    await this.#audit.record("session", { what: "closed" }, { session: this.session });
    this.#audit.close();
    if (this.#ownsStore) await this.#store.close();
  }

  // ---------------------------------------------------------------- one call

  async #perform(id: string, name: string, raw: unknown, options: CallOptions): Promise<ToolResult> {
    const tool = this.#tools.get(name);
    const parsed = tool?.input.safeParse(raw);
    if (!tool || !parsed?.success) {
      const reason = tool
        ? `The input is wrong: ${whatIsWrong(parsed!.error!)}`
        : `There is no tool ${name}.`;
      return this.#refuse(id, name, raw, { rule: tool ? "bad-input" : "unknown-tool", reason });
    }
    let intent: ToolIntent;
    try {
      intent = await tool.judge(parsed.data, this.#world);
    } catch (error) {
      return this.#refuse(id, name, raw, { rule: ruleOf(error), reason: (error as Error).message });
    }
    const status = intent.action === "allow" ? "RUNNING" : intent.action === "ask" ? "PENDING" : "REFUSED";
    await this.#ledger.begin(id, name, raw, intent, status);
    if (status === "REFUSED")
      return this.#end(id, { status, ...told(intent, "deny", this.#world.workspace) });
    if (status === "RUNNING") return this.#run(id, tool, parsed.data, intent, options);
    return this.#ask(id, tool, parsed.data, intent, options);
  }

  async #ask(
    id: string,
    tool: Tool,
    input: unknown,
    intent: ToolIntent,
    options: CallOptions,
  ): Promise<ToolResult> {
    const controller = this.#controller(options.signal);
    let parkedAs: (approval: string) => void = () => {};
    const parked = new Promise<string>((resolve) => {
      parkedAs = (approval) => {
        options.asked?.(approval);
        resolve(approval);
      };
    });
    const { what, digest, findings, parts, argv, programs, detail } = intent;
    const settled = this.#approvals
      .request(
        {
          kind: "TOOL_CALL",
          session: this.session,
          toolCall: id,
          what,
          digest,
          findings,
          ...(parts && { parts }),
          ...(argv && { argv }),
          ...(programs && { programs }),
          ...(detail && { detail }),
        },
        { signal: controller.signal, parked: parkedAs },
      )
      .finally(() => this.#running.delete(controller))
      .then((outcome) => this.#answered(id, tool, input, intent, outcome, options));
    if (options.wait !== false) return settled;
    this.#parked.set(id, this.#keep(settled));
    settled.catch(() => {}).finally(() => this.#parked.delete(id));
    return Promise.race([
      settled,
      parked.then((approval): ToolResult => ({ id, status: "BLOCKED", approval })),
    ]);
  }

  async #answered(
    id: string,
    tool: Tool,
    input: unknown,
    intent: ToolIntent,
    { granted, state, by, note, approval }: ApprovalOutcome,
    options: CallOptions,
  ): Promise<ToolResult> {
    const status = state === "withdrawn" ? "CANCELLED" : "REFUSED";
    if (!granted) {
      const reason = `${ANSWERS[state]}${note ? `: ${note}` : ""}`;
      return this.#end(id, { status, rule: "approval", reason, ...(approval && { approval }) });
    }
    const now = await tool.judge(input, this.#world);
    if (now.digest !== intent.digest || now.action === "deny")
      return this.#end(id, {
        status: "REFUSED",
        rule: "changed",
        reason: "The target of this call changed after the approval: call it again to ask again.",
      });
    await this.#ledger.running(id);
    const result = await this.#run(id, tool, input, intent, options);
    return { ...result, ...(approval && { approval }), approvedBy: by };
  }

  async #run(
    id: string,
    tool: Tool,
    input: unknown,
    intent: ToolIntent,
    options: CallOptions,
  ): Promise<ToolResult> {
    const controller = this.#controller(options.signal);
    const call: ToolCall = {
      id,
      signal: controller.signal,
      digest: intent.digest,
      approved: [...new Set(intent.findings.flatMap(({ action, rule }) => (action === "ask" ? [rule] : [])))],
      givesStdin: options.givesStdin ?? false,
      started: (running) => options.started?.(running),
      output: (stream, bytes) => options.onOutput?.(stream, bytes),
      callTool: (name, inner, signal) =>
        this.call(name, inner, {
          signal: either(controller.signal, signal),
          ...(options.asked && { asked: options.asked }),
        }),
    };
    const world = {
      ...this.#world,
      backend: approvedBackend(this.#world.backend, this.#approvals, this.#ledger, id, options.asked),
    };
    // Any other action ends a series of identical reads.
    if (tool.name !== "read_file") world.files.acted(this.session);
    try {
      const output = await tool.run(input, call, world);
      return await this.#end(id, { status: controller.signal.aborted ? "CANCELLED" : "DONE", output });
    } catch (error) {
      const status = error instanceof ToolRefusal ? "REFUSED" : "FAILED";
      return await this.#end(id, { status, rule: ruleOf(error), reason: (error as Error).message });
    } finally {
      this.#running.delete(controller);
    }
  }

  #mustBeOpen(): void {
    if (this.#closing) throw new HermesError("USAGE", { message: CLOSED });
  }

  #keep<T>(call: Promise<T>): Promise<T> {
    this.#open.add(call);
    const ended = () => this.#open.delete(call);
    call.then(ended, ended);
    return call;
  }

  #controller(signal: AbortSignal | undefined): AbortController {
    const controller = new AbortController();
    this.#running.add(controller);
    const abort = () => controller.abort(signal?.reason);
    if (this.#closing) controller.abort(new Error(CLOSED));
    else if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true, signal: controller.signal });
    return controller;
  }

  async #refuse(
    id: string,
    name: string,
    raw: unknown,
    why: { rule: string; reason: string },
  ): Promise<ToolResult> {
    const finding: Finding = { layer: "tools", action: "deny", ...why };
    const intent: ToolIntent = { what: name, action: "deny", findings: [finding], digest: "" };
    await this.#ledger.begin(id, name, raw, intent, "REFUSED");
    return this.#end(id, { status: "REFUSED", ...why });
  }

  async #end(id: string, ended: Omit<ToolResult, "id">): Promise<ToolResult> {
    await this.#ledger.end(id, ended.status, ended.output, ended.reason);
    return { id, ...ended };
  }
}

const CLOSED = "the session was closed";

const ANSWERS = {
  pending: "No approver has answered yet",
  granted: "It was approved",
  refused: "An approver, or a rule of theirs, refused it",
  expired: "No approver answered in time",
  withdrawn: "The question was withdrawn",
} as const;

function either(a: AbortSignal, b: AbortSignal | undefined): AbortSignal {
  return b ? AbortSignal.any([a, b]) : a;
}

/** The first finding that decides, in words for the agent. */
function told(
  { findings, subject }: ToolIntent,
  action: Finding["action"],
  workspace: string,
): Pick<ToolResult, "rule" | "reason" | "instead" | "allow"> {
  const deciding = findings.find((finding) => finding.action === action);
  const entry = deciding && subject && entryAgainst(deciding, subject);
  return {
    rule: deciding?.rule ?? "refused",
    reason: deciding?.reason ?? "Refused.",
    ...(deciding?.instead && { instead: deciding.instead }),
    ...(entry && { allow: allowCommand(entry, workspace) }),
  };
}

function ruleOf(error: unknown): string {
  return error instanceof ToolError
    ? error.rule
    : error instanceof HermesError
      ? error.code.toLowerCase()
      : "failed";
}

function whatIsWrong({
  issues,
}: {
  readonly issues: readonly { path: readonly PropertyKey[]; message: string }[];
}): string {
  return issues
    .map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message))
    .join("; ");
}

/** Runs are judged by real paths. For a path that does not exist yet, its parent folder is resolved. */
/** The agent's own folder: memory, sessions, keys that no skill has declared. Not one that holds the home or the workspace. */
function ownFolder(agentHome: string, kept: readonly string[]): string[] {
  const folder = `${realPlace(agentHome)}/`;
  return kept.some((place) => `${realPlace(place)}/`.startsWith(folder)) ? [] : [folder];
}

function realPlace(path: string): string {
  const at = resolve(path);
  try {
    return realpathSync.native(at);
  } catch {
    return at === "/" ? at : join(realPlace(dirname(at)), basename(at));
  }
}
