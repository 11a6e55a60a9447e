import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type CallToolResult, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HERMES, hermes } from "../../support/cli.js";
import { root } from "../../support/root.js";
import { until } from "../../support/until.js";
import { type Elicit, ERAS, type Era, newClient, type Place, place, textOf } from "./support.js";

let here: Place;
let serving: ChildProcess;
let url: string;
let token: string;
beforeAll(async () => {
  here = await place();
  const tokenFile = join(here.home, "token");
  serving = spawn(HERMES, ["mcp", "--http", "--token-file", tokenFile], {
    cwd: here.workspace,
    env: here.env,
  });
  let said = "";
  serving.stderr!.on("data", (bytes: Buffer) => {
    said += bytes.toString();
  });
  url = await until(() => /listening on (\S+)/.exec(said)?.[1]);
  token = readFileSync(tokenFile, "utf8").trim();
});
afterAll(async () => {
  serving.kill("SIGTERM");
  const [status] = await once(serving, "exit");
  expect(status).toBe(0);
  await here.close();
});

async function connected(era: Era, elicit?: Elicit) {
  const client = newClient({ era, ...(elicit && { elicit }) });
  const authorization = `Bearer ${token}`;
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization } } }),
  );
  return client;
}

/** One request with these headers, and what the server says to it. */
async function ask(headers: Record<string, string>, path = new URL(url).pathname): Promise<number> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
  const { hostname, port } = new URL(url);
  const asking = request({ hostname, port, path, method: "POST", headers });
  asking.setHeader("content-type", "application/json");
  asking.setHeader("accept", "application/json, text/event-stream");
  asking.end(body);
  const [response] = (await once(asking, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode!;
}

describe.each(ERAS)("hermes mcp --http, protocol of %s", (era) => {
  it("runs commands, and asks the client's user", async () => {
    const asked: string[] = [];
    const client = await connected(era, ({ message }) => {
      asked.push(message);
      return { action: "accept", content: { answer: "once" } };
    });
    const command = `git init -q ${era}; cd ${era}; git clean -fdq; echo ${era}`;
    const result = (await client.callTool({
      name: "terminal_exec",
      arguments: { command },
    })) as CallToolResult;
    expect(textOf(result)).toContain(era);
    expect(asked).toHaveLength(1);
    await client.close();
  });

  it("sends progress while a command runs", async () => {
    const client = await connected(era);
    const seen: string[] = [];
    const go = `go-${era}`;
    const command = `echo line; until [ -e ${go} ]; do sleep 0.1; done`;
    const done = client.callTool(
      { name: "terminal_exec", arguments: { command } },
      { onprogress: ({ message }) => seen.push(message ?? "") },
    );
    await until(() => seen[0] === "line");
    await client.callTool({ name: "write_file", arguments: { path: go, content: "" } });
    await done;
    await client.close();
  });
});

describe("hermes mcp --http refuses", () => {
  const authorized = () => ({ authorization: `Bearer ${token}` });

  it("a client with no token, or a wrong one", async () => {
    expect(await ask({})).toBe(401);
    expect(await ask({ authorization: "Bearer wrong" })).toBe(401);
    expect(await ask({ authorization: `Basic ${token}` })).toBe(401);
  });

  it("names that only lead here, and pages of other hosts", async () => {
    expect(await ask({ ...authorized(), host: "evil.example" })).toBe(421);
    expect(await ask({ ...authorized(), host: `evil.example:${new URL(url).port}` })).toBe(421);
    expect(await ask({ ...authorized(), origin: "http://evil.example" })).toBe(403);
    expect(await ask({ ...authorized(), origin: "null" })).toBe(403);
    expect(await ask({ ...authorized(), origin: new URL(url).origin })).not.toBe(403);
  });

  it("everything but /mcp, and sessions that it does not know", async () => {
    expect(await ask(authorized(), "/")).toBe(404);
    expect(await ask({ ...authorized(), "mcp-session-id": "nobody" })).toBe(404);
  });

  it("to listen for other machines, and tokens that others can read", () => {
    for (const address of ["0.0.0.0:0", "192.168.0.1:0", "[::]:0"])
      expect(hermes(["mcp", "--http", address], { env: here.env }).status, address).toBe(2);
    const file = join(here.home, "token");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    chmodSync(file, 0o644);
    expect(hermes(["mcp", "--http", "--token-file", file], { env: here.env }).stderr).toMatch(
      /readable by other users/,
    );
    chmodSync(file, 0o600);
  });
});

/** The conformance tests know of no tokens: this adds one, and passes everything else on as it is. */
async function withToken() {
  const { hostname, port } = new URL(url);
  const proxy = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    for (const name of ["host", "origin"] as const)
      if (headers[name])
        headers[name] = headers[name].replace(
          /^(http:\/\/)?(localhost|127\.0\.0\.1)(?::\d+)?$/,
          `$1${hostname}:${port}`,
        );
    const asking = request(
      { hostname, port, path: incoming.url, method: incoming.method, headers },
      (response) => {
        outgoing.writeHead(response.statusCode!, response.headers);
        response.pipe(outgoing);
      },
    );
    asking.on("error", () => outgoing.destroy());
    outgoing.on("close", () => asking.destroy());
    incoming.pipe(asking);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return proxy;
}

describe("the protocol's own conformance tests", () => {
  // The others call tools, prompts and resources that only a server for tests has.
  for (const scenario of [
    "server-initialize",
    "ping",
    "tools-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
  ])
    it(`pass: ${scenario}`, async () => {
      const proxy = await withToken();
      const { port } = proxy.address() as AddressInfo;
      const tool = join(root, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
      const testing = spawn(process.execPath, [
        tool,
        "server",
        "--url",
        `http://localhost:${port}/mcp`,
        "--scenario",
        scenario,
      ]);
      let said = "";
      for (const stream of [testing.stdout, testing.stderr])
        stream.on("data", (bytes: Buffer) => {
          said += bytes.toString();
        });
      const [status] = await once(testing, "exit");
      proxy.closeAllConnections();
      proxy.close();
      expect(status, said).toBe(0);
      expect(said).toMatch(/[1-9]\d* passed|Passed: [1-9]/i);
    });
});
