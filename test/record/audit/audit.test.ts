import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Audit } from "../../../src/record/audit/audit.js";
import { readHead } from "../../../src/record/audit/head.js";
import { openStore } from "../../../src/record/store/open.js";
import type { AuditRow, Store } from "../../../src/record/store/store.js";
import { collect, expectChained } from "../store/suite.js";

let folder: string;
let store: Store;
let audit: Audit;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "hermes-audit-"));
  store = await openStore(join(folder, "hermes.db"));
  audit = Audit.open(store);
});
afterEach(async () => {
  audit.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const call = (input: string, fields?: Record<string, unknown>) =>
  audit.record(
    "tool-call",
    {
      id: "c1",
      tool: "terminal_exec",
      kind: "command",
      input,
      action: "allow",
      findings: [],
      ...(fields && { fields }),
    },
    { session: "s1" },
  );
const bodyOf = (row: AuditRow) => JSON.parse(row.body);

describe("a record", () => {
  it("is chained to the one before, by whichever process wrote that", async () => {
    const other = Audit.open(store);
    expect(other.chain).toBe(audit.chain);
    await call("ls");
    await other.record("session", { what: "opened" });
    await call("pwd");
    const rows = await collect(store.audit({ chain: audit.chain }));
    expect(rows.map(({ seq, kind, session }) => [seq, kind, session])).toEqual([
      [1, "tool-call", "s1"],
      [2, "session", null],
      [3, "tool-call", "s1"],
    ]);
    expectChained(rows);
    other.close();
  });

  it("is the same text for the same content, whatever order it came in", async () => {
    const a = await call("ls", { b: 1, a: { d: [1, "x"], c: null } });
    const b = await call("ls", { a: { c: null, d: [1, "x"] }, b: 1, e: undefined });
    expect(a.body).toBe(b.body);
    expect(a.body).toContain('"fields":{"a":{"c":null,"d":[1,"x"]},"b":1}');
  });

  it("has no secrets in it, wherever they stood", async () => {
    const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    const row = await call(`curl -H 'Authorization: Bearer ${token}' https://example.org`, {
      env: { API_KEY: "plain-words", PATH: "/bin" },
      argv: ["mysql", "--password", "plain-words", "db"],
      deep: [[{ [token]: [`x ${token}`] }]],
    });
    expect(row.body).not.toContain(token);
    expect(row.body).not.toContain("plain-words");
    expect(bodyOf(row).input).toContain("[redacted: github-token]");
    expect(bodyOf(row).fields.env.PATH).toBe("/bin");
    expect(readFileSync(join(folder, "hermes.db-wal")).includes(token)).toBe(false);
  });

  it("is bounded: long texts are cut after secrets were taken out, and their hash stands there", async () => {
    const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    const row = await call(`${"a ".repeat(32_760)} ${token} ${"b ".repeat(1_000_000)}`);
    expect(row.body).not.toContain("ghp_16C7");
    expect(bodyOf(row).input).toMatch(/\[cut: \d+ characters, sha256 [0-9a-f]{64}\]$/);
    expect(row.body.length).toBeLessThan(70_000);
    const many = await call("ls", { list: Array.from({ length: 100_000 }, (_, i) => `item ${i} of a list`) });
    expect(Object.keys(bodyOf(many))).toEqual(["cut"]);
  });

  it("takes anything that a hostile agent puts into it", async () => {
    let deep: unknown = "end";
    for (let i = 0; i < 1000; i++) deep = [deep];
    const input = "a\0b\ud800'; DROP TABLE audit; --\u001b[2J";
    const row = await call(input, {
      deep,
      big: 10n ** 30n,
      bytes: new Uint8Array([0, 255]),
      ["__proto__"]: { x: 1 },
    });
    expect(bodyOf(row).input).toBe(input);
    expect(bodyOf(row).fields.big).toBe("1000000000000000000000000000000");
    expect(row.body).toContain("nested too deep");
    expect(await collect(store.audit())).toEqual([row]);
  });
});

describe("beside the store", () => {
  it("stands how far the chain has come", async () => {
    expect(readHead(`${store.beside}.head`)).toBeUndefined();
    await call("ls");
    const { chain, seq, hash } = await call("pwd");
    expect(readHead(`${store.beside}.head`)).toEqual({ chain, seq, hash });
    const late = Audit.open(store);
    const next = await late.record("session", { what: "closed" });
    expect(readHead(`${store.beside}.head`)?.seq).toBe(next.seq);
    // A late writer does not set it back.
    writeFileSync(`${store.beside}.head`, `${"9".padStart(16, "0")} ${"a".repeat(64)} ${chain}\n`);
    await call("again");
    expect(readHead(`${store.beside}.head`)?.seq).toBe(9);
    late.close();
  });

  it("stands this host's name, which no other user can read", () => {
    expect(readFileSync(`${store.beside}.host`, "utf8")).toBe(`${audit.chain}\n`);
    expect(statSync(`${store.beside}.host`).mode & 0o777).toBe(0o600);
    writeFileSync(`${store.beside}.host`, "");
    expect(() => Audit.open(store)).toThrow(/does not name this host/);
  });
});
