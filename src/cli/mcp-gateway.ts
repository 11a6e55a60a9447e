import { once } from "node:events";
import { writeSync } from "node:fs";
import { resolve } from "node:path";
import { ClientApprover } from "../mcp/gateway/client-approver.js";
import { Gateway } from "../mcp/gateway/gateway.js";
import { Office } from "../mcp/gateway/office.js";
import { type Rewritten, rewrite, undo } from "../mcp/gateway/rewrite.js";
import { type GatewayServer, isName, NAMES, nameOf, readServers } from "../mcp/gateway/servers.js";
import { harmless } from "../text.js";
import { print, say } from "./output.js";
import { choice, usage } from "./values.js";

export interface GatewayFlags {
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

/** Runs other people's servers until the client or a signal ends it. On stdout is nothing but the protocol. */
export async function gatewayCommand(command: readonly string[], flags: GatewayFlags): Promise<number> {
  const servers = serversOf(command, flags);
  const approver =
    choice("--ask", flags.ask, ["client", "queue"]) === "client" ? new ClientApprover() : undefined;
  const office = await Office.open({
    ...(approver && { approvers: [approver] }),
    workspace: resolve("."),
    report: (text) =>
      say(
        `${text
          .split("\n")
          .map((line) => `hermes: ${harmless(line)}`)
          .join("\n")}\n`,
      ),
    ...(flags.offline && { offline: true }),
    ...(flags.store !== undefined && { store: flags.store }),
  });
  const gateway = new Gateway({
    servers,
    several: flags.config !== undefined,
    office,
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
    await office.close();
  }
}

function serversOf(command: readonly string[], flags: GatewayFlags): GatewayServer[] {
  if ((flags.config === undefined) === (command.length === 0))
    throw usage("mcp-gateway takes either a command or --config FILE");
  if (flags.config !== undefined) return readServers(flags.config);
  const [program, ...args] = command as [string, ...string[]];
  if (flags.name !== undefined && !isName(flags.name)) throw usage(`--name ${flags.name}: ${NAMES}`);
  const missing = (flags.env ?? []).find((name) => process.env[name] === undefined);
  if (missing !== undefined) throw usage(`--env ${missing}: there is no such variable`);
  return [
    {
      name: flags.name ?? nameOf(command),
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
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return; // nobody reads it
    }
}

export function importCommand(file: string, flags: { undo?: boolean; json?: boolean }): number {
  const result = flags.undo ? undo(file) : rewrite(file, process.env.HERMES_COMMAND ?? "hermes");
  if (flags.json) print(`${JSON.stringify(result)}\n`);
  else tell(result, flags.undo === true);
  return 0;
}

function tell({ changed, left, backup }: Rewritten, undone: boolean): void {
  for (const name of changed)
    print(
      `${harmless(name)}: ${undone ? "is started by the client itself again" : "goes through the gateway now"}\n`,
    );
  for (const { name, why } of left) print(`${harmless(name)}: is left as it is: ${why}\n`);
  if (changed.length === 0) print("nothing was changed\n");
  else if (backup !== undefined)
    print(
      `${undone ? "it was changed since; what was there before is" : "what was there is kept"} in ${backup}\n`,
    );
}
