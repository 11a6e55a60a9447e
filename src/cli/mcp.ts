import { once } from "node:events";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { Questions } from "../mcp/questions.js";
import { serverFactory } from "../mcp/server.js";
import { harmless } from "../text.js";
import { Toolbox } from "../tools/toolbox.js";
import { say } from "./output.js";
import { choice } from "./values.js";

export interface McpFlags {
  readonly workspace: string;
  readonly tools?: string;
  readonly profile?: string;
  readonly ask: string;
  readonly online?: boolean;
  readonly store?: string;
}

/** Serves until the client or a signal ends it. On stdout is nothing but the protocol. */
export async function mcpCommand(flags: McpFlags): Promise<number> {
  const questions = new Questions();
  const toolbox = await Toolbox.open({
    workspace: flags.workspace,
    agent: "hermes mcp",
    approvers: [questions],
    problem,
    ...(flags.tools !== undefined && { tools: flags.tools.split(",").map((name) => name.trim()) }),
    ...(flags.profile !== undefined && {
      profile: choice("--profile", flags.profile, ["standard", "strict"]),
    }),
    ...(flags.online && { online: true }),
    ...(flags.store !== undefined && { store: flags.store }),
  });
  const ask = choice("--ask", flags.ask, ["client", "queue"]);
  const factory = serverFactory({ toolbox, questions, ask, problem });
  try {
    const server = serveStdio(factory, { onerror: (error) => problem(error.message) });
    await Promise.race([ended(), once(process.stdin, "close"), once(process.stdin, "end")]);
    await server.close();
    return 0;
  } finally {
    await toolbox.close();
  }
}

function problem(text: string): void {
  say(`hermes: ${harmless(text)}\n`);
}

function ended(): Promise<unknown> {
  return Promise.race((["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => once(process, signal)));
}
