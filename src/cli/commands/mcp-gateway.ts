import { once } from "node:events";
import { writeSync } from "node:fs";
import { resolve } from "node:path";
import { ClientApprover } from "../../agents/mcp/gateway/client-approver.js";
import { Gateway } from "../../agents/mcp/gateway/gateway.js";
import { GatewayApprovals } from "../../agents/mcp/gateway/gateway-approvals.js";
import { type Rewritten, rewrite, undo } from "../../agents/mcp/gateway/rewrite.js";
import {
  type GatewayServer,
  isServerName,
  readServers,
  SERVER_NAMES,
  serverNameOf,
} from "../../agents/mcp/gateway/servers.js";
import { escapeControl } from "../../nouns/text.js";
import { choice, usageError } from "../options/values.js";
import { print, say } from "../views/output.js";

interface GatewayFlags {
  readonly config?: string;
  readonly name?: string;
  readonly root?: readonly string[];
  readonly network: string;
  readonly env?: readonly string[];
  readonly ask: string;
  readonly askTool?: readonly string[];
  readonly denyTool?: readonly string[];
  readonly offline?: boolean;
  readonly store?: string;
}

/** Runs third-party servers until the client or a signal ends it. stdout carries only the protocol. */
export async function gatewayCommand(command: readonly string[], flags: GatewayFlags): Promise<number> {
  const servers = serversOf(command, flags);
  const approver =
    choice("--ask", flags.ask, ["client", "queue"]) === "client" ? new ClientApprover() : undefined;
  const gatewayApprovals = await GatewayApprovals.open({
    ...(approver && { approvers: [approver] }),
    workspace: resolve("."),
    report: (text) =>
      say(
        `${text
          .split("\n")
          .map((line) => `hermes: ${escapeControl(line)}`)
          .join("\n")}\n`,
      ),
    ...(flags.offline && { offline: true }),
    ...(flags.store !== undefined && { store: flags.store }),
  });
  const gateway = new Gateway({
    servers,
    several: flags.config !== undefined,
    gatewayApprovals,
    send: (line) => pass(Buffer.from(line)),
    approver,
  });
  try {
    process.stdin.on("data", (bytes: Buffer) => gateway.client.receive(bytes));
    const signals = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => once(process, signal));
    await Promise.race([...signals, once(process.stdin, "end"), once(process.stdin, "close")]);
    return 0;
  } finally {
    await gateway.close();
    await gatewayApprovals.close();
  }
}

function serversOf(command: readonly string[], flags: GatewayFlags): GatewayServer[] {
  if ((flags.config === undefined) === (command.length === 0))
    throw usageError("mcp-gateway takes either a command or --config FILE");
  if (flags.config !== undefined) return readServers(flags.config);
  const [program, ...args] = command as [string, ...string[]];
  if (flags.name !== undefined && !isServerName(flags.name))
    throw usageError(`--name ${flags.name}: ${SERVER_NAMES}`);
  const missing = (flags.env ?? []).find((name) => process.env[name] === undefined);
  if (missing !== undefined) throw usageError(`--env ${missing}: no such environment variable`);
  return [
    {
      name: flags.name ?? serverNameOf(command),
      command: program,
      args,
      env: Object.fromEntries((flags.env ?? []).map((name) => [name, process.env[name]!])),
      roots: flags.root ?? [],
      network: choice("--network", flags.network, ["public", "none"]),
      ask: flags.askTool ?? [],
      deny: flags.denyTool ?? [],
    },
  ];
}

/** The client's pipe may be full for a moment. */
function pass(bytes: Buffer): void {
  for (let done = 0; done < bytes.length; )
    try {
      done += writeSync(1, bytes, done);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return; // the reader has closed it
    }
}

export function gatewayImportCommand(file: string, flags: { undo?: boolean; json?: boolean }): number {
  const result = flags.undo ? undo(file) : rewrite(file, process.env.HERMES_COMMAND ?? "hermes");
  if (flags.json) print(`${JSON.stringify(result)}\n`);
  else tell(result, flags.undo === true);
  return 0;
}

function tell({ changed, left, backup }: Rewritten, undone: boolean): void {
  for (const name of changed)
    print(
      `${escapeControl(name)}: ${undone ? "is started by the client itself again" : "goes through the gateway now"}\n`,
    );
  for (const { name, why } of left) print(`${escapeControl(name)}: unchanged, because ${why}\n`);
  if (changed.length === 0) print("no changes\n");
  else if (backup !== undefined)
    print(`${undone ? "the file was edited since, so the backup is kept" : "backup"}: ${backup}\n`);
}
