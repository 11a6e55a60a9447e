import { mkdirSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import { publicError, serverEnv } from "../../../intent/guard/mcp/env.js";
import { heldAtMost } from "../../../people/approval/limits.js";
import type { Backend, Running } from "../../tools/backend.js";
import { type Json, type RpcHandlers, RpcPeer } from "./peer.js";
import type { GatewayServer } from "./servers.js";

interface UpstreamOptions {
  /** Questions go to the approval queue, refusals go to the audit. */
  readonly backend: Backend;
  readonly home: string;
  /** The gateway's own environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where servers keep downloaded packages, one folder per server. */
  readonly state: string;
  readonly config: NonNullable<Parameters<Backend["start"]>[0]["deed"]["config"]>;
  /** Findings of the launch that an approver accepted. */
  readonly approved: readonly string[];
  readonly handlers: RpcHandlers;
  readonly report: (text: string) => void;
  readonly ended: (why: string) => void;
}

/** The largest delay that timers accept. */
const NO_TIMEOUT = 2 ** 31 - 1;

/**
 * A server that runs under HERMES: the supervisor restricts it to its roots and network, and its environment has no secrets
 * but its own.
 */
export class Upstream {
  readonly peer: RpcPeer;
  readonly #running: Running;

  private constructor(peer: RpcPeer, running: Running) {
    this.peer = peer;
    this.#running = running;
  }

  static async start(server: GatewayServer, options: UpstreamOptions): Promise<Upstream> {
    const { backend, home, config, approved, handlers, report, ended } = options;
    const roots = (server.roots.length > 0 ? server.roots : ["."]).map((root) => realpathSync.native(root));
    const [workspace, ...others] = roots as [string, ...string[]];
    const own = ownFolders(server, options.state);
    const { env } = serverEnv(options.env, { ...own.env, ...server.env });
    let running: Running | undefined;
    const peer = new RpcPeer((line) => running?.write(line), handlers);
    running = await backend.start(
      {
        argv: [server.command, ...server.args],
        cwd: workspace,
        env,
        timeout: NO_TIMEOUT,
        stdin: "pipe",
        patience: heldAtMost(config.config.approvals),
        deed: {
          workspace,
          home,
          writable: [...others, ...own.folders],
          approved,
          network: server.network,
          config,
          ...(env.PATH !== undefined && { searchPath: env.PATH }),
        },
      },
      {
        output(stream, bytes) {
          if (stream === "stdout") peer.receive(bytes);
          else report(`${server.name}: ${publicError(bytes.toString("utf8").trimEnd(), server.env)}`);
        },
      },
    );
    void running.result
      .then(
        ({ exitCode }) => `it has ended (status ${exitCode})`,
        (error: Error) => `it has failed: ${error.message}`,
      )
      .then((why) => {
        peer.close(new Error(why));
        ended(why);
      });
    return new Upstream(peer, running);
  }

  request(method: string, params: Json, signal?: AbortSignal): Promise<unknown> {
    return this.peer.request(method, params, signal);
  }

  async close(): Promise<void> {
    this.peer.close(new Error("the gateway is closed"));
    this.#running.closeInput();
    await this.#running.kill();
  }
}

/**
 * Package runners cache what they download. Each server has its own cache, so that no server can change another's program.
 */
function ownFolders(
  { name, command }: GatewayServer,
  state: string,
): { env: Record<string, string>; folders: string[] } {
  if (!/^(?:npx|npm|pnpm|pnpx|bunx|yarn|uvx|uv|pipx)$/.test(basename(command)))
    return { env: {}, folders: [] };
  const folder = join(state, "mcp", name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return {
    folders: [folder],
    env: {
      npm_config_cache: join(folder, "npm"),
      npm_config_update_notifier: "false",
      UV_CACHE_DIR: join(folder, "uv"),
      UV_TOOL_DIR: join(folder, "uv-tools"),
      PIPX_HOME: join(folder, "pipx"),
    },
  };
}
