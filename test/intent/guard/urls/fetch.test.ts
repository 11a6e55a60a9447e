import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allowedBy } from "../../../../src/intent/guard/urls/allowed.js";
import { type FetchOptions, fetchChecked } from "../../../../src/intent/guard/urls/fetch.js";

/** One real server on loopback; the allow-list decides which of its names are "public". */
let server: Server;
let port: number;
const seen: {
  host: string | undefined;
  url: string | undefined;
  authorization: string | undefined;
  from: string;
}[] = [];

function answer(request: IncomingMessage, response: ServerResponse): void {
  seen.push({
    host: request.headers.host,
    url: request.url,
    authorization: request.headers.authorization,
    from: request.socket.localAddress ?? "",
  });
  const redirects: Record<string, string> = {
    "/to-metadata": "http://169.254.169.254/latest/meta-data/",
    "/to-file": "file:///etc/passwd",
    "/to-other": `http://other.example.com:${port}/end`,
    "/to-loopback": `http://127.0.0.2:${port}/secret`,
    "/loop": "/loop",
    "/relative": "/end",
  };
  const location = redirects[request.url ?? ""];
  if (location) response.writeHead(302, { location }).end();
  else
    response.end(request.url === "/large" ? "x".repeat(5000) : `hello from ${request.socket.localAddress}`);
}

beforeAll(async () => {
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());

/** The operator allowed 127.0.0.1, and nothing else on loopback. */
const options: FetchOptions = {
  allowed: allowedBy({ allow: ["127.0.0.1/32"] }),
  resolve: async (host) => (host === "evil.example.com" ? ["127.0.0.2"] : ["127.0.0.1"]),
};

describe("a checked fetch", () => {
  it("connects to the address that was judged, with the name in the request", async () => {
    const result = await fetchChecked(`http://good.example.com:${port}/x`, options);
    expect(result.body.toString()).toBe("hello from 127.0.0.1");
    expect(seen.at(-1)!.host).toBe(`good.example.com:${port}`);
    expect(result.hops).toEqual([{ url: `http://good.example.com:${port}/x`, address: "127.0.0.1" }]);
  });

  it("resolves the name once: a later change of its address has no effect", async () => {
    let asked = 0;
    const rebinding = async () => (asked++ === 0 ? ["127.0.0.1"] : ["127.0.0.2"]);
    const result = await fetchChecked(`http://rebind.example.com:${port}/`, {
      ...options,
      resolve: rebinding,
    });
    expect(result.body.toString()).toBe("hello from 127.0.0.1");
    expect(asked).toBe(1);
  });

  it("refuses a name that resolves to a blocked address, and sends nothing", async () => {
    const before = seen.length;
    await expect(fetchChecked(`http://evil.example.com:${port}/`, options)).rejects.toThrow(
      /resolves to 127.0.0.2/,
    );
    expect(seen.length).toBe(before);
  });

  for (const path of ["/to-metadata", "/to-file", "/to-loopback"])
    it(`judges redirects: ${path} is not followed`, async () => {
      await expect(fetchChecked(`http://good.example.com:${port}${path}`, options)).rejects.toMatchObject({
        code: "URL_REFUSED",
      });
      expect(seen.at(-1)!.url).toBe(path);
    });

  it("follows allowed redirects", async () => {
    const result = await fetchChecked(`http://good.example.com:${port}/relative`, options);
    expect(result.hops.map(({ url }) => url)).toEqual([
      `http://good.example.com:${port}/relative`,
      `http://good.example.com:${port}/end`,
    ]);
  });

  it("sends credentials only to the host that they were for", async () => {
    const headers = { authorization: "Bearer secret" };
    await fetchChecked(`http://good.example.com:${port}/to-other`, { ...options, headers });
    expect(seen.slice(-2).map((one) => one.authorization)).toEqual(["Bearer secret", undefined]);
  });

  it("stops a loop of redirects", async () =>
    await expect(fetchChecked(`http://good.example.com:${port}/loop`, options)).rejects.toThrow(
      /too many redirects/,
    ));

  it("reads no more bytes than its limit", async () => {
    const result = await fetchChecked(`http://good.example.com:${port}/large`, { ...options, bytes: 100 });
    expect(result).toMatchObject({ truncated: true });
    expect(result.body.length).toBe(100);
  });

  it("asks where the layer would ask", async () => {
    const url = `http://user:pass@good.example.com:${port}/`;
    await expect(fetchChecked(url, options)).rejects.toThrow(/password/);
    expect((await fetchChecked(url, { ...options, approve: async () => true })).status).toBe(200);
  });

  it("fails closed when the name cannot be resolved", async () => {
    const resolve = async () => {
      throw new Error("ENOTFOUND");
    };
    await expect(fetchChecked("http://nowhere.example.com/", { ...options, resolve })).rejects.toThrow(
      /cannot be resolved/,
    );
  });
});
