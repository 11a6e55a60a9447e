import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Guard } from "../../../../src/intent/guard/guard.js";
import { LAYERS } from "../../../../src/intent/guard/layers.js";
import { osvAdvisories } from "../../../../src/intent/guard/mcp/osv.js";
import { mcpSection } from "../../../../src/intent/guard/mcp/section.js";
import { compareVersions } from "../../../../src/intent/guard/mcp/version.js";

/** A server with the API of osv.dev, as its documentation describes /v1/querybatch. */
const KNOWN: Record<string, string[]> = {
  "npm:evil-mcp": ["MAL-2025-1234"],
  "npm:old-server@1.0.0": ["GHSA-aaaa-bbbb-cccc", "CVE-2024-1"],
  "npm:old-server": ["GHSA-aaaa-bbbb-cccc"],
  "PyPI:bad-py": ["MAL-2024-9"],
  "npm:many": Array.from({ length: 5 }, (_, i) => `GHSA-${i}`),
};
interface Query {
  package: { name: string; ecosystem: string };
  version?: string;
  page_token?: string;
}
let server: Server;
let url: string;
let folder: string;
let requests: { path: string | undefined; queries: Query[] }[];
let broken: "no" | "status" | "nonsense" | "silent";

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "hermes-osv-"));
  requests = [];
  broken = "no";
  server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { queries } = JSON.parse(text) as { queries: Query[] };
    requests.push({ path: request.url, queries });
    if (broken === "silent") return;
    if (broken === "status") return response.writeHead(503).end();
    if (broken === "nonsense") return response.end('{"results":[]}');
    const results = queries.map(({ package: { name, ecosystem }, version, page_token }) => {
      const ids = KNOWN[`${ecosystem}:${name}${version ? `@${version}` : ""}`] ?? [];
      if (name !== "many")
        return ids.length > 0 ? { vulns: ids.map((id) => ({ id, modified: "2025-01-01T00:00:00Z" })) } : {};
      const from = Number(page_token ?? 0);
      return {
        vulns: ids.slice(from, from + 2).map((id) => ({ id })),
        ...(from + 2 < ids.length && { next_page_token: String(from + 2) }),
      };
    });
    response.setHeader("content-type", "application/json");
    return response.end(JSON.stringify({ results }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

function judge(command: string, osv: object = {}, online = true) {
  const section = mcpSection.parse({ osv: { url, timeout: 60, ...osv } });
  const advisories = osvAdvisories({ section: section.osv, cache: join(folder, "cache"), online });
  return new Guard(LAYERS, { config: { mcp: section }, advisories }).judge({ kind: "mcp", input: command });
}

describe("seed 004: npx/uvx packages checked against the OSV database before spawning", () => {
  for (const command of [
    "npx -y evil-mcp",
    "npx evil-mcp@2.0.0-not-listed --flag",
    "npx --package=evil-mcp start",
    "bunx evil-mcp",
    "pnpm dlx evil-mcp",
    "npm exec -- evil-mcp",
    "uvx bad-py",
    "uvx --from bad-py server",
    "pipx run bad-py",
    "uv tool run bad-py",
    "env TOKEN=x npx -y evil-mcp",
  ])
    it(`finds the malicious package in ${command}`, async () => {
      KNOWN["npm:evil-mcp@2.0.0-not-listed"] = ["MAL-2025-1234"];
      const { action, findings } = await judge(command);
      expect(findings.map(({ rule }) => rule)).toContain("malicious-package");
      expect(action).toBe("deny");
    });

  it("asks about a release with known vulnerabilities, but not about old ones when no release is named", async () => {
    expect((await judge("npx old-server@1.0.0")).findings).toMatchObject([
      { rule: "vulnerable-package", action: "ask" },
    ]);
    expect((await judge("npx old-server@2.0.0")).action).toBe("allow");
    expect((await judge("npx old-server")).action).toBe("allow");
  });

  it("queries all packages in one request to /v1/querybatch", async () => {
    const config = {
      mcpServers: {
        a: { command: "npx", args: ["-y", "first-one"] },
        b: { command: "uvx", args: ["second-one==1.2.3"] },
      },
    };
    await judge(JSON.stringify(config));
    expect(requests).toEqual([
      {
        path: "/v1/querybatch",
        queries: [
          { package: { name: "first-one", ecosystem: "npm" } },
          { package: { name: "second-one", ecosystem: "PyPI" }, version: "1.2.3" },
        ],
      },
    ]);
  });

  it("follows pages to the end", async () => {
    const advisories = osvAdvisories({ section: mcpSection.parse({ osv: { url } }).osv, online: true });
    const [found] = await advisories([{ ecosystem: "npm", name: "many" }]);
    expect(found!.map(({ id }) => id)).toEqual(["GHSA-0", "GHSA-1", "GHSA-2", "GHSA-3", "GHSA-4"]);
    expect(requests).toHaveLength(3);
  });

  it("caches answers on disk, and asks again when they are old", async () => {
    await judge("npx -y evil-mcp");
    expect((await judge("npx -y evil-mcp")).action).toBe("deny");
    expect(requests).toHaveLength(1);
    await judge("npx -y evil-mcp", { cache_hours: 0 });
    expect(requests).toHaveLength(2);
    expect((await judge("npx -y evil-mcp", {}, false)).action).toBe("deny");
    expect(requests).toHaveLength(2);
  });

  for (const how of ["status", "nonsense", "silent"] as const)
    it(`fails closed when the API fails (${how}), unless fail_open is set`, async () => {
      broken = how;
      const osv = how === "silent" ? { timeout: 0.5 } : {};
      const closed = await judge("npx -y some-server", osv);
      expect(closed.action).toBe("deny");
      expect(closed.findings.at(-1)!.rule).toBe("advisories-unavailable");
      expect((await judge("npx -y some-server", { ...osv, fail_open: true })).action).toBe("allow");
    });

  it("osv.mode: off sends no query", async () => {
    expect((await judge("npx -y evil-mcp", { mode: "off" })).action).toBe("allow");
    expect(requests).toEqual([]);
  });
});

describe("the offline database", () => {
  const record = (id: string, name: string, more: object) => ({
    id,
    affected: [{ package: { ecosystem: "npm", name }, ...more }],
  });
  const records = [
    record("MAL-1", "evil-mcp", {
      versions: ["1.0.0"],
      ranges: [{ type: "SEMVER", events: [{ introduced: "0" }] }],
    }),
    record("GHSA-1", "old-server", {
      ranges: [{ type: "SEMVER", events: [{ introduced: "1.0.0" }, { fixed: "1.4.2" }] }],
    }),
    record("GHSA-2", "last", {
      ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { last_affected: "2.0.0" }] }],
    }),
    { ...record("MAL-2", "pardoned", {}), withdrawn: "2025-01-01" },
    { id: "MAL-3", affected: [{ package: { ecosystem: "PyPI", name: "Bad.Py" } }] },
  ];
  for (const form of ["records.json", "records.jsonl", "folder"])
    it(`is read from ${form}, without any network`, async () => {
      const database = join(folder, form);
      if (form === "folder") {
        for (const one of records) writeFileSync(join(folder, `${one.id}.json`), JSON.stringify(one));
      } else
        writeFileSync(
          database,
          form.endsWith("l") ? records.map((r) => JSON.stringify(r)).join("\n") : JSON.stringify(records),
        );
      const osv = { database: form === "folder" ? folder : database, mode: "offline" };
      const actions = [];
      for (const command of [
        "npx evil-mcp",
        "npx old-server@1.4.1",
        "npx old-server@1.4.2",
        "npx last@2.0.0",
        "npx last@2.0.1",
        "npx pardoned",
        "uvx bad_py",
        "npx honest",
      ])
        actions.push((await judge(command, osv, false)).action);
      expect(actions).toEqual(["deny", "ask", "allow", "ask", "allow", "allow", "deny", "allow"]);
      expect(requests).toEqual([]);
    });
});

it("versions are ordered as registries order them", () => {
  const ordered = ["0.9", "1.0.0-alpha", "1.0.0-beta", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0"];
  for (let i = 1; i < ordered.length; i++)
    expect(compareVersions(ordered[i - 1]!, ordered[i]!), ordered[i]).toBe(-1);
  expect(compareVersions("1.0", "1.0.0")).toBe(0);
});
