import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  type CallToolResult,
  Client,
  type ClientCapabilities,
  type ElicitRequest,
  type ElicitResult,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { AuditKind } from "../../../src/record/audit/records.js";
import { openStore } from "../../../src/record/store/open.js";
import type { Store } from "../../../src/record/store/store.js";
import { HERMES } from "../../support/cli.js";

/** The protocol before 2026, where the server asks, and since, where it answers that it needs to know more. */
export const ERAS = ["2025", "2026"] as const;
export type Era = (typeof ERAS)[number];

export interface Place {
  readonly workspace: string;
  readonly home: string;
  readonly env: Record<string, string>;
  readonly store: Store;
  close(): Promise<void>;
}

/** A workspace, a home and a store of their own. */
export async function place(files: Readonly<Record<string, string>> = {}): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-mcp-"));
  const workspace = join(folder, "workspace");
  const home = join(folder, "home");
  for (const path of [workspace, home]) mkdirSync(path);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), text);
  }
  const url = join(folder, "hermes.db");
  const store = await openStore(url);
  return {
    workspace,
    home,
    store,
    env: {
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: home,
      HERMES_HOME: join(home, ".hermes"),
      HERMES_STORE: url,
    },
    close: async () => {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type Elicit = (params: ElicitRequest["params"]) => ElicitResult | Promise<ElicitResult>;

export interface Connecting {
  readonly era?: Era;
  readonly elicit?: Elicit;
  readonly capabilities?: ClientCapabilities;
}

/** A client of the official library; `elicit` is its user. */
export function newClient({ era = "2025", elicit, capabilities = {} }: Connecting = {}): Client {
  const client = new Client(
    { name: "test-client", version: "1" },
    {
      capabilities: { ...capabilities, ...(elicit && { elicitation: { form: {} } }) },
      versionNegotiation: { mode: era === "2026" ? { pin: "2026-07-28" } : "legacy" },
    },
  );
  if (elicit) client.setRequestHandler("elicitation/create", ({ params }) => elicit(params));
  return client;
}

export interface Connected {
  readonly client: Client;
  readonly pid: number;
  /** What it said on stderr. */
  readonly said: () => string;
  call(name: string, input: object): Promise<CallToolResult>;
}

/** As long as a busy machine needs; the test's own time ends soon after. */
const PATIENT = { timeout: 110_000 };

/** `hermes ARGS` on stdin and stdout. */
export async function connect(
  { env, workspace }: Place,
  args: readonly string[],
  options: Connecting = {},
): Promise<Connected> {
  const client = newClient(options);
  const transport = new StdioClientTransport({
    command: HERMES,
    args: [...args],
    env,
    cwd: workspace,
    stderr: "pipe",
  });
  let said = "";
  transport.stderr?.on("data", (bytes: Buffer) => {
    said += bytes.toString();
  });
  /** A request that fails shows what HERMES said meanwhile: a timeout alone explains nothing. */
  const explained = (error: Error): never => {
    throw new Error(`${error.message}\nhermes ${args.join(" ")} said:\n${said}`, { cause: error });
  };
  await client.connect(transport, PATIENT).catch(explained);
  return {
    client,
    pid: transport.pid!,
    said: () => said,
    call: (name, input) =>
      client.callTool({ name, arguments: { ...input } }, PATIENT).catch(explained) as Promise<CallToolResult>,
  };
}

export function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
}

/** The bodies of records, oldest first. */
export async function records(store: Store, kind: AuditKind): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  for await (const row of store.audit())
    if (row.kind === kind) found.push(JSON.parse(row.body) as Record<string, unknown>);
  return found;
}

export function alive(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}
