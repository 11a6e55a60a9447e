import { mkdirSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import { publicError, serverEnv } from "../../guard/mcp/env.js";
import type { Backend, Running } from "../../tools/backend.js";
import { type Json, Peer, type PeerHandlers } from "./peer.js";
import type { GatewayServer } from "./servers.js";

export interface UpstreamOptions {
  /** Attended: what is asked goes to the approvals, what is refused into the audit. */
  readonly backend: Backend;
  readonly home: string;
  /** What the gateway itself was started with. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where servers keep what they fetch, each for itself. */
  readonly state: string;
  readonly config: NonNullable<Parameters<Backend["start"]>[0]["deed"]["config"]>;
  /** Findings of the launch that somebody approved. */
  readonly approved: readonly string[];
  readonly handlers: PeerHandlers;
  readonly report: (text: string) => void;
  readonly ended: (why: string) => void;
}

/** Longer than anything runs; timers cannot be set for longer. */
const NO_TIMEOUT = 2 ** 31 - 1;
const PATIENCE_MS = 10 * 60_000;

/** A server that runs under HERMES: held by the kernel to its roots and its network, with an environment that has no secrets but its own. */
export class Upstream {
  readonly peer: Peer;
  readonly #running: Running;

  private constructor(peer: Peer, running: Running) {
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
    const peer = new Peer((line) => running?.write(line), handlers);
    running = await backend.start(
      {
        argv: [server.command, ...server.args],
        cwd: workspace,
        env,
        timeout: NO_TIMEOUT,
        stdin: "pipe",
        patience: PATIENCE_MS,
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

/** Package runners keep what they fetched: each server's own, so that none can change what another is started from. */
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
