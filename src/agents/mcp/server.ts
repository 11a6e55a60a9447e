import { setTimeout as sleep } from "node:timers/promises";
import {
  type CallToolRequest,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServerFactory,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { IterationBudget } from "../../intent/guard/delegation/budget.js";
import { escapeControl } from "../../nouns/text.js";
import { PACKAGE_VERSION } from "../../nouns/version.js";
import type { Toolbox } from "../tools/toolbox.js";
import { type OngoingCall, OngoingCalls } from "./calls.js";
import { toolDefinition } from "./definitions.js";
import { answerOf, elicitationOf } from "./elicitation.js";
import { Progress } from "./progress.js";
import type { CallQuestions, OpenQuestion } from "./questions.js";
import { callResult, waitingResult } from "./result.js";

interface ServingOptions {
  readonly toolbox: Toolbox;
  /** Passed to the toolbox as an approver: its questions are asked through the client, where the client can ask. */
  readonly questions: CallQuestions;
  /** `queue`: never ask through the client, which may belong to the agent. */
  readonly ask: "client" | "queue";
  /** Maximum number of calls. */
  readonly budget?: IterationBudget;
  readonly problem?: (text: string) => void;
}

/** How long a client that came back waits for an answer before it must come back again. */
const PATIENCE_MS = 20_000;

/**
 * READ FIRST for `hermes mcp`. A toolbox behind the protocol: every call goes to `Toolbox.call`, which judges, asks and
 * records. Questions are asked through the client (elicitation); otherwise the client gets the id of the approval that the
 * call waits for.
 */
export function serverFactory(options: ServingOptions): McpServerFactory {
  const calls = new OngoingCalls(options.toolbox, options.questions);
  const tools = options.toolbox.tools.map(toolDefinition);
  return ({ era }) => {
    const server = new Server(
      { name: "hermes", title: "HERMES", version: PACKAGE_VERSION },
      { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
    );
    server.onerror = (error) => options.problem?.(`mcp: ${escapeControl(error.message)}`);
    server.setRequestHandler("tools/list", () => ({ tools }));
    server.setRequestHandler("tools/call", (request, context) =>
      new Exchange(options, calls, clientOf(server, context), era === "modern").call(request, context),
    );
    return server;
  };
}

const INSTRUCTIONS =
  "HERMES judges every call before it runs, enforces the judgement at system calls, and records it. A refusal says why and what to do instead: do not try the same in another way. A call that waits for a person's approval says so: call again with the same input to get its result.";

const NONE_LEFT = {
  id: "",
  status: "REFUSED",
  rule: "budget",
  reason: "The limit of calls is reached: report what you have found.",
} as const;

/** One request of a client: to call a tool, or to continue a call. */
class Exchange {
  readonly #options: ServingOptions;
  readonly #calls: OngoingCalls;
  readonly #client: ClientSide;
  readonly #modern: boolean;
  /** Questions that the user has dismissed: they stay in the queue. */
  readonly #silent = new Set<string>();

  constructor(options: ServingOptions, calls: OngoingCalls, client: ClientSide, modern: boolean) {
    this.#options = options;
    this.#calls = calls;
    this.#client = client;
    this.#modern = modern;
  }

  async call(
    { params: { name, arguments: input = {} } }: CallToolRequest,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { signal } = context.mcpReq;
    const state = context.mcpReq.requestState<string>();
    const before = this.#calls.find(name, input, state);
    if (!before && this.#options.budget?.take() === false) return callResult(NONE_LEFT);
    const call = before ?? this.#calls.begin(name, input);
    const abort = () => call.abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    const progress = progressOf(context);
    call.onOutput = progress && ((_, bytes) => progress.output(bytes));
    try {
      if (before && state !== undefined) await this.#take(call, context);
      return await this.#finish(call, before !== undefined && state === undefined, context);
    } catch (error) {
      this.#calls.done(call); // the call could not be recorded, so it has no result
      throw error;
    } finally {
      await progress?.end();
      call.onOutput = undefined;
      call.hasWaiter = false;
      signal.removeEventListener("abort", abort);
      if (call.result) this.#calls.done(call);
    }
  }

  async #finish(
    call: OngoingCall,
    cameBack: boolean,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    let patience = cameBack ? PATIENCE_MS : 0;
    for (;;) {
      const question = await call.question();
      if (!question) return callResult(call.result!);
      if (this.#canElicit && !this.#silent.has(question.item.id)) {
        if (this.#modern) return asked(call, question);
        if (await this.#elicit(question, context)) continue;
      }
      if (patience === 0) return waitingResult(question.item);
      await answered(question, patience, context.mcpReq.signal);
      patience = 0;
    }
  }

  /** The client was asked in the result of an earlier request; this request brings its user's answer. */
  async #take(call: OngoingCall, context: ServerContext): Promise<void> {
    const { inputResponses = {} } = context.mcpReq;
    for (const id of Object.keys(inputResponses)) {
      const question = call.waitsFor(id);
      const response = inputResponse(inputResponses, id);
      if (question && response.kind === "elicit") await this.#answer(question, response);
    }
  }

  /** Asks during a request, as clients before 2026 require. False: the user has not answered. */
  async #elicit(question: OpenQuestion, { mcpReq }: ServerContext): Promise<boolean> {
    const { item, over } = question;
    const timeout = Math.max(item.expires - Date.now(), 1);
    try {
      const response = await mcpReq.elicitInput(elicitationOf(item), {
        signal: AbortSignal.any([over, mcpReq.signal]),
        timeout,
      });
      return await this.#answer(question, response);
    } catch (error) {
      if (over.aborted) return true; // another approver has answered
      this.#options.problem?.(`mcp: the client could not ask: ${escapeControl((error as Error).message)}`);
      this.#silent.add(item.id);
      return false;
    }
  }

  async #answer(question: OpenQuestion, response: Parameters<typeof answerOf>[0]): Promise<boolean> {
    const given = answerOf(response, this.#by);
    if (given) await question.answer(given);
    else this.#silent.add(question.item.id);
    return given !== undefined;
  }

  get #canElicit(): boolean {
    const { elicitation } = this.#client.capabilities;
    if (this.#options.ask === "queue" || elicitation === undefined) return false;
    return elicitation.form !== undefined || elicitation.url === undefined;
  }

  /** The approver's name for the record. */
  get #by(): string {
    return `mcp:${escapeControl(this.#client.name).slice(0, 64)}`;
  }
}

interface ClientSide {
  readonly name: string;
  readonly capabilities: ClientCapabilities;
}

/** Clients since 2026 declare it with every request, older ones once. */
function clientOf(server: Server, { mcpReq }: ServerContext): ClientSide {
  const said = (mcpReq.envelope ?? {}) as {
    [CLIENT_INFO_META_KEY]?: Implementation;
    [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities;
  };
  return {
    name: (said[CLIENT_INFO_META_KEY] ?? server.getClientVersion())?.name ?? "client",
    capabilities: said[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {},
  };
}

/** Asks clients since 2026: the question is the result of the request. They come back with the answer and this state. */
function asked(call: OngoingCall, { item }: OpenQuestion): InputRequiredResult {
  return inputRequired({
    inputRequests: { [item.id]: inputRequired.elicit(elicitationOf(item)) },
    requestState: call.id,
  });
}

async function answered({ over }: OpenQuestion, patience: number, signal: AbortSignal): Promise<void> {
  if (over.aborted) return;
  await sleep(patience, undefined, { signal: AbortSignal.any([over, signal]) }).catch(() => {});
}

function progressOf({ mcpReq }: ServerContext): Progress | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return new Progress((progress, message) => {
    const params = { progressToken, progress, message };
    return mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  });
}
