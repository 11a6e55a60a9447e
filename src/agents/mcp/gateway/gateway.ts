import { escapeControl } from "../../../nouns/text.js";
import { PACKAGE_VERSION } from "../../../nouns/version.js";
import type { ClientApprover } from "./client-approver.js";
import { type Definition, definitionsOf } from "./definitions.js";
import type { GatewayApprovals } from "./gateway-approvals.js";
import { type Json, METHOD_NOT_FOUND, REFUSED, RpcError, RpcPeer } from "./peer.js";
import { GatewayServerSession } from "./server-session.js";
import type { GatewayServer } from "./servers.js";

/** Separates a server's name from its tool's name. */
const SEPARATOR = "__";

interface Routed {
  readonly behind: GatewayServerSession;
  /** The server's own name of it. */
  readonly name: string;
}

interface GatewayOptions {
  readonly servers: readonly GatewayServer[];
  /** Names get the server's prefix, also when only one server is configured so far. */
  readonly several: boolean;
  readonly gatewayApprovals: GatewayApprovals;
  readonly send: (line: string) => void;
  readonly approver?: ClientApprover | undefined;
}

/** The state of a server's start: answered, failed, or waiting for an approver. */
interface Started {
  readonly behind: GatewayServerSession;
  readonly answer?: Json;
  readonly why?: string;
}

/**
 * READ FIRST for `hermes mcp-gateway`. To the client it is a server, to the servers it is the client. It scans every
 * message and drops methods that it does not know. A single server keeps its own names; with several servers, tools and
 * prompts are called `server__name`.
 */
export class Gateway {
  readonly client: RpcPeer;
  readonly #gatewayApprovals: GatewayApprovals;
  readonly #all: readonly GatewayServerSession[];
  readonly #several: boolean;
  readonly #approver: ClientApprover | undefined;
  #began = false;
  #running: readonly GatewayServerSession[] = [];
  /** The client's name, if it can ask its user. */
  #asker: string | undefined;
  #tools = new Map<string, Routed>();
  #prompts = new Map<string, Routed>();
  #resources = new Map<string, GatewayServerSession>();

  constructor({ servers, several, gatewayApprovals, send, approver }: GatewayOptions) {
    this.#gatewayApprovals = gatewayApprovals;
    this.#approver = approver;
    this.#several = several;
    this.#all = servers.map(
      (server) => new GatewayServerSession(server, gatewayApprovals, () => this.client),
    );
    this.client = new RpcPeer(send, {
      request: (method, params, signal) => this.#asked(method, params, signal),
      notification: (method, params) => this.#told(method, params),
      problem: (text) => gatewayApprovals.report(`the client: ${text}`),
    });
  }

  async close(): Promise<void> {
    this.client.close(new Error("the gateway is closed"));
    await Promise.all(this.#all.map((behind) => behind.close()));
  }

  async #asked(method: string, params: Json, signal: AbortSignal): Promise<unknown> {
    switch (method) {
      case "ping":
        return {};
      case "initialize":
        return this.#initialize(params);
      case "tools/list":
        return { tools: await this.#listTools() };
      case "tools/call":
        return this.#callTool(params, signal);
      case "prompts/list":
        return { prompts: await this.#listPrompts() };
      case "prompts/get": {
        const { behind, name } = await this.#prompt(String(params.name));
        return behind.read(this.#named(behind, name), method, { ...params, name }, signal);
      }
      case "resources/list":
        return { resources: await this.#listResources(method, "resources", "uri") };
      case "resources/templates/list":
        return { resourceTemplates: await this.#listResources(method, "resourceTemplates", "uriTemplate") };
      case "resources/read":
      case "resources/subscribe":
      case "resources/unsubscribe":
        return this.#resource(method, params, signal);
      case "completion/complete":
        return this.#complete(params, signal);
      case "logging/setLevel":
        await Promise.all(this.#offering("logging").map((behind) => behind.ask(method, params)));
        return {};
      default:
        throw new RpcError(METHOD_NOT_FOUND, `${method} is not available through this gateway`);
    }
  }

  #told(method: string, params: Json): void {
    if (!["notifications/initialized", "notifications/roots/list_changed"].includes(method)) return;
    if (method === "notifications/initialized" && this.#asker !== undefined)
      this.#approver?.attach(this.client, this.#asker);
    for (const behind of this.#running) behind.notify(method, params);
  }

  // ---------------------------------------------------------------- the handshake

  async #initialize(params: Json): Promise<Json> {
    const { _meta, ...given } = params;
    if (this.#began) throw new RpcError(REFUSED, "The gateway is already initialized.");
    this.#began = true;
    if ("elicitation" in ((params.capabilities ?? {}) as Json))
      this.#asker = escapeControl(String((params.clientInfo as Json | undefined)?.name ?? "client")).slice(
        0,
        64,
      );
    const answers = await Promise.all(this.#all.map((behind) => this.#start(behind, given)));
    const started = answers.flatMap(({ behind, answer }) => (answer ? [{ behind, answer }] : []));
    if (!this.#several) {
      if (!started[0]) throw new RpcError(REFUSED, `${answers[0]!.behind.name}: ${answers[0]!.why}`);
      return started[0].answer;
    }
    return {
      protocolVersion:
        started.map(({ answer }) => String(answer.protocolVersion)).sort()[0] ?? params.protocolVersion,
      serverInfo: { name: "hermes-gateway", version: PACKAGE_VERSION },
      capabilities: Object.assign({}, ...started.map(({ answer }) => answer.capabilities), {
        tools: { listChanged: true },
      }),
      instructions: started
        .flatMap(({ behind, answer }) =>
          answer.instructions ? [`${behind.name}: ${answer.instructions}`] : [],
        )
        .join("\n"),
    };
  }

  /** With several servers, one that waits for an approver does not delay the others; it is added later. */
  #start(behind: GatewayServerSession, params: Json): Promise<Started> {
    return new Promise((resolve) => {
      let late = false;
      const waits = () => {
        if (!this.#several) return;
        late = true;
        resolve({ behind });
      };
      behind.initialize(params, waits).then(
        (answer) => {
          this.#running = [...this.#running, behind];
          if (late) this.#joined(behind);
          resolve({ behind, answer });
        },
        (error: Error) => {
          this.#gatewayApprovals.report(`${behind.name}: not started: ${error.message}`);
          resolve({ behind, why: error.message });
        },
      );
    });
  }

  #joined(behind: GatewayServerSession): void {
    behind.notify("notifications/initialized", {});
    for (const what of ["tools", "prompts", "resources"])
      if (behind.can(what)) this.client.notify(`notifications/${what}/list_changed`);
  }

  #offering(capability: string): readonly GatewayServerSession[] {
    return this.#running.filter((behind) => behind.can(capability));
  }

  #named(behind: GatewayServerSession, name: string): string {
    return this.#several ? `${behind.name}${SEPARATOR}${name}` : name;
  }

  // ---------------------------------------------------------------- tools

  async #listTools(): Promise<Definition[]> {
    const routes = new Map<string, Routed>();
    const lists = await Promise.all(
      this.#offering("tools").map(async (behind) =>
        (await behind.tools()).map((tool) => {
          const name = this.#named(behind, tool.name);
          routes.set(name, { behind, name: tool.name });
          return { ...tool, name };
        }),
      ),
    );
    this.#tools = routes;
    return lists.flat();
  }

  async #callTool(params: Json, signal: AbortSignal): Promise<Json> {
    const asked = String(params.name);
    if (!this.#tools.has(asked)) await this.#listTools();
    const route = this.#tools.get(asked);
    if (!route) return this.#refused(asked, params.arguments);
    const { behind, name } = route;
    return behind.callTool(`${behind.name}${SEPARATOR}${name}`, { ...params, name }, signal);
  }

  async #refused(asked: string, input: unknown): Promise<Json> {
    const why = this.#whyNot(asked);
    await this.#gatewayApprovals.refused(asked, input ?? {}, why);
    return { content: [{ type: "text", text: why }], isError: true };
  }

  #whyNot(asked: string): string {
    for (const behind of this.#running)
      for (const name of [asked, asked.slice(behind.name.length + SEPARATOR.length)]) {
        const why = behind.whyWithheld(name);
        if (why !== undefined && this.#named(behind, name) === asked)
          return `HERMES withholds the tool ${asked}: ${why}`;
      }
    return `There is no tool ${asked}.`;
  }

  // ---------------------------------------------------------------- prompts and resources

  async #listPrompts(): Promise<Definition[]> {
    const routes = new Map<string, Routed>();
    const lists = await Promise.all(
      this.#offering("prompts").map(async (behind) =>
        behind.presentable(definitionsOf(await behind.list("prompts/list", "prompts"))).map((prompt) => {
          const name = this.#named(behind, prompt.name);
          routes.set(name, { behind, name: prompt.name });
          return { ...prompt, name };
        }),
      ),
    );
    this.#prompts = routes;
    return lists.flat();
  }

  async #prompt(asked: string): Promise<Routed> {
    if (!this.#prompts.has(asked)) await this.#listPrompts();
    const route = this.#prompts.get(asked);
    if (!route) throw new RpcError(REFUSED, `There is no prompt ${asked}.`);
    return route;
  }

  async #listResources(method: string, key: string, address: "uri" | "uriTemplate"): Promise<unknown[]> {
    const lists = await Promise.all(
      this.#offering("resources").map(async (behind) => {
        const kept = behind.presentable(await behind.list(method, key));
        for (const one of kept) this.#resources.set(String(one[address]), behind);
        return kept;
      }),
    );
    return lists.flat();
  }

  /** The server that listed it. An unlisted resource may come from a template, so all servers are tried in turn. */
  async #resource(method: string, params: Json, signal: AbortSignal): Promise<Json> {
    const uri = String(params.uri);
    const known = this.#resources.get(uri);
    let failed = new RpcError(REFUSED, `There is no resource ${uri}.`);
    for (const behind of known ? [known] : this.#offering("resources"))
      try {
        return await behind.read(`${behind.name}${SEPARATOR}${method}`, method, params, signal);
      } catch (error) {
        failed = error as RpcError;
      }
    throw failed;
  }

  async #complete(params: Json, signal: AbortSignal): Promise<unknown> {
    const ref = (params.ref ?? {}) as Json;
    const { behind, name } =
      ref.type === "ref/prompt"
        ? await this.#prompt(String(ref.name))
        : {
            behind: this.#resources.get(String(ref.uri)) ?? this.#offering("completions")[0],
            name: undefined,
          };
    if (!behind) throw new RpcError(REFUSED, "There is nothing to complete.");
    const own = { ...params, ref: name === undefined ? ref : { ...ref, name } };
    return behind.ask("completion/complete", own, signal);
  }
}
