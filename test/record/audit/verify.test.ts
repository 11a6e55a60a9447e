import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Audit } from "../../../src/record/audit/audit.js";
import { hashOf } from "../../../src/record/audit/chain.js";
import { openStore } from "../../../src/record/store/open.js";
import type { AuditRow } from "../../../src/record/store/store.js";
import { type CliOptions, hermes as run } from "../../support/cli.js";

let folder: string;
let db: string;
let chain: string;
const RECORDS = 10;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "hermes-verify-"));
  db = join(folder, "hermes.db");
  await write(RECORDS);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function write(count: number): Promise<void> {
  const store = await openStore(db);
  const audit = Audit.open(store);
  chain = audit.chain;
  for (let i = 0; i < count; i++)
    await audit.record("outcome", { id: `c${i}`, status: "DONE" }, { session: "s1" });
  audit.close();
  await store.close();
}

const hermes = (args: readonly string[], options: CliOptions = {}) =>
  run(["audit", ...args], { env: { ...process.env, HERMES_STORE: db }, ...options });
const sqlite = (text: string) => execFileSync("sqlite3", [db, text], { encoding: "utf8" });

/** What verify says of a store in which this was done. */
function verified(...args: string[]) {
  const { status, stdout, stderr } = hermes(["verify", "--json", ...args]);
  return { status, stderr, broken: stdout === "" ? undefined : JSON.parse(stdout).chains[0]?.broken };
}

/** Does what an attacker who can write to the database would do to hide a change: hashes that fit. */
function rehash(from: number, change: (row: AuditRow) => AuditRow): void {
  const rows: AuditRow[] = JSON.parse(
    execFileSync("sqlite3", ["-json", db, "SELECT * FROM audit ORDER BY seq"], { encoding: "utf8" }),
  );
  let previous = rows[from - 2]?.hash ?? "0".repeat(64);
  for (const row of rows.slice(from - 1)) {
    const changed = { ...(row.seq === from ? change(row) : row), previous };
    previous = hashOf(changed);
    sqlite(
      `UPDATE audit SET body = '${changed.body}', previous = '${changed.previous}', hash = '${previous}' WHERE seq = ${row.seq}`,
    );
  }
}

describe("hermes audit verify", () => {
  it("exits 0 for a chain that is whole, and says where it ends", () => {
    const { status, stdout } = hermes(["verify"]);
    expect(stdout).toMatch(
      new RegExp(`^${chain}: whole, 10 records, not signed, ends with [0-9a-f]{64}\\n$`),
    );
    expect(status).toBe(0);
  });

  it.each([
    ["a changed body", "UPDATE audit SET body = '{}' WHERE seq = 4", 4, "changed"],
    ["a changed time", "UPDATE audit SET time = time + 1 WHERE seq = 4", 4, "changed"],
    ["a changed kind", "UPDATE audit SET kind = 'deed' WHERE seq = 4", 4, "changed"],
    ["another session", "UPDATE audit SET session = NULL WHERE seq = 4", 4, "changed"],
    ["a changed hash", "UPDATE audit SET hash = upper(hash) WHERE seq = 4", 4, "changed"],
    ["a removed record", "DELETE FROM audit WHERE seq = 4", 4, "missing"],
    ["several removed records", "DELETE FROM audit WHERE seq BETWEEN 4 AND 6", 4, "missing"],
    ["a removed beginning", "DELETE FROM audit WHERE seq < 3", 1, "missing"],
    [
      "a removed record whose place was closed",
      "DELETE FROM audit WHERE seq = 4; UPDATE audit SET seq = seq - 1 WHERE seq > 4",
      4,
      "changed",
    ],
    [
      "an inserted record",
      `UPDATE audit SET seq = -seq WHERE seq > 4; UPDATE audit SET seq = 1 - seq WHERE seq < 0;
       INSERT INTO audit SELECT chain, 5, time, session, kind, body, previous, hash, signature FROM audit WHERE seq = 4`,
      5,
      "changed",
    ],
    [
      "two records that changed places",
      "UPDATE audit SET seq = 0 WHERE seq = 4; UPDATE audit SET seq = 4 WHERE seq = 5; UPDATE audit SET seq = 5 WHERE seq = 0",
      4,
      "changed",
    ],
    ["a tail that was cut off", "DELETE FROM audit WHERE seq > 8", 9, "cut-off"],
    ["only the last record cut off", "DELETE FROM audit WHERE seq = 10", 10, "cut-off"],
    ["everything cut off", "DELETE FROM audit", 1, "cut-off"],
  ])("names the first broken record: %s", (_, change, seq, what) => {
    sqlite(change);
    expect(verified()).toMatchObject({ status: 1, broken: { seq, what } });
    expect(hermes(["verify"])).toMatchObject({ status: 1, stdout: expect.stringMatching(/BROKEN: /) });
  });

  it("notices a record that was changed with its hash: by the next record, or by the head", () => {
    const rows = JSON.parse(
      execFileSync("sqlite3", ["-json", db, "SELECT * FROM audit WHERE seq IN (4, 10)"], {
        encoding: "utf8",
      }),
    ) as AuditRow[];
    const [fourth, last] = rows.map((row) => ({ ...row, body: "{}" }));
    sqlite(`UPDATE audit SET body = '{}', hash = '${hashOf(fourth!)}' WHERE seq = 4`);
    expect(verified()).toMatchObject({ status: 1, broken: { seq: 5, what: "replaced" } });
    sqlite(`UPDATE audit SET body = '${rows[0]!.body}', hash = '${rows[0]!.hash}' WHERE seq = 4`);
    expect(verified().status).toBe(0);
    sqlite(`UPDATE audit SET body = '{}', hash = '${hashOf(last!)}' WHERE seq = 10`);
    expect(verified()).toMatchObject({ status: 1, broken: { seq: 10, what: "replaced" } });
  });

  it("notices a chain that was written anew from some record on, by the head", () => {
    rehash(4, (row) => ({ ...row, body: "{}" }));
    expect(verified()).toMatchObject({ status: 1, broken: { seq: 10, what: "replaced" } });
  });

  it("warns when there is no head file, and compares with a copy of it kept elsewhere", () => {
    const copy = join(folder, "kept");
    copyFileSync(`${db}.head`, copy);
    unlinkSync(`${db}.head`);
    sqlite("DELETE FROM audit WHERE seq > 8");
    expect(verified()).toMatchObject({ status: 0, stderr: expect.stringMatching(/no head file/) });
    expect(verified("--head", copy)).toMatchObject({ status: 1, broken: { seq: 9, what: "cut-off" } });
    expect(verified("--head", join(folder, "none")).status).toBe(125);
  });

  it("does not take a damaged head for none", () => {
    writeFileSync(`${db}.head`, "0000");
    expect(hermes(["verify"])).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(/head is damaged/),
    });
  });

  it("takes records that the head does not know yet: they came before a crash", async () => {
    const old = readFileSync(`${db}.head`);
    await write(2);
    writeFileSync(`${db}.head`, old);
    expect(verified().status).toBe(0);
  });

  it("still shows that the end was cut off when the chain has gone on", async () => {
    sqlite("DELETE FROM audit WHERE seq > 7");
    await write(20);
    expect(verified()).toMatchObject({ status: 1, broken: { seq: 8, what: "cut-off" } });
    expect(verified().broken.message).toContain('"seq":10');
  });

  it("… also when that was done during a write", async () => {
    const store = await openStore(db);
    const audit = Audit.open(store);
    const record = () => audit.record("outcome", { id: "x", status: "DONE" });
    await record();
    sqlite("DELETE FROM audit WHERE seq > 7");
    for (let i = 0; i < 20; i++) await record();
    audit.close();
    await store.close();
    expect(verified()).toMatchObject({ status: 1, broken: { seq: 9, what: "cut-off" } });
  });

  it("says nothing of it when the head file was removed on purpose, as after a backup was put in place", async () => {
    sqlite("DELETE FROM audit WHERE seq > 7");
    unlinkSync(`${db}.head`);
    await write(2);
    expect(verified()).toMatchObject({ status: 0, broken: null });
  });

  it("looks at every chain", async () => {
    sqlite(
      `INSERT INTO audit SELECT 'other-host', seq, time, session, kind, body, previous, hash, NULL FROM audit`,
    );
    const { status, stdout } = hermes(["verify", "--json"]);
    expect(status).toBe(1);
    const { chains } = JSON.parse(stdout);
    expect(chains).toHaveLength(2);
    expect(chains.find((c: { chain: string }) => c.chain === chain).broken).toBeNull();
    expect(chains.find((c: { chain: string }) => c.chain === "other-host").broken).toMatchObject({ seq: 1 });
  });

  it("does not make a store where there is none", () => {
    const none = join(folder, "none.db");
    expect(hermes(["verify", "--store", none])).toMatchObject({
      status: 125,
      stderr: expect.stringMatching(/none yet/),
    });
    expect(() => statSync(none)).toThrow();
  });
});

describe("a signed chain", () => {
  beforeEach(async () => {
    expect(hermes(["keygen"]).status).toBe(0);
    await write(3);
  });

  it("is signed from where the key was made, and whole", () => {
    expect(hermes(["verify"])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/signed from record 11 on/),
    });
    expect(statSync(`${db}.key`).mode & 0o777).toBe(0o600);
    expect(hermes(["keygen"])).toMatchObject({ status: 125, stderr: expect.stringMatching(/exist/) });
  });

  it("cannot be continued, or written anew, without the key", async () => {
    unlinkSync(`${db}.key`);
    await write(1);
    expect(verified()).toMatchObject({ status: 1, broken: { seq: 15, what: "signature" } });
    rehash(12, (row) => ({ ...row, body: "{}" }));
    expect(verified()).toMatchObject({ status: 1, broken: { seq: 12, what: "signature" } });
    unlinkSync(`${db}.head`);
    sqlite("UPDATE audit SET signature = NULL");
    expect(verified()).toMatchObject({ status: 1, broken: { what: "signature" } });
  });

  it("is not whole for another key", () => {
    const other = join(folder, "other.db");
    expect(hermes(["keygen", "--store", other]).status).toBe(0);
    expect(verified("--key", `${other}.pub`)).toMatchObject({
      status: 1,
      broken: { seq: 11, what: "signature" },
    });
    expect(verified("--key", `${other}.pub`, "--key", `${db}.pub`).status).toBe(0);
    expect(verified("--key", `${db}.head`).status).toBe(125);
  });

  it("is not written to with a key that others can read", async () => {
    execFileSync("chmod", ["644", `${db}.key`]);
    await expect(write(1)).rejects.toThrow(/can be read by others/);
  });
});

describe("hermes audit export", () => {
  const exported = () => join(folder, "audit.jsonl");
  const verifiedFile = (...args: string[]) => {
    const { status, stdout } = hermes(["verify", "--json", "--file", exported(), ...args], {
      env: { ...process.env },
    });
    return { status, broken: stdout === "" ? undefined : JSON.parse(stdout).chains[0]?.broken };
  };
  beforeEach(() => expect(hermes(["export", "-o", exported()]).status).toBe(0));

  it("is whole, also where there is no store", () => {
    expect(verifiedFile()).toEqual({ status: 0, broken: null });
    expect(readFileSync(exported(), "utf8")).toBe(hermes(["export"]).stdout);
    expect(statSync(exported()).mode & 0o777).toBe(0o600);
    const piped = hermes(["verify", "--file", "-"], { input: readFileSync(exported()) });
    expect(piped.status).toBe(0);
  });

  it.each([
    [
      "a changed line",
      (lines: string[]) => lines.map((l, i) => (i === 3 ? l.replace("c3", "c4") : l)),
      4,
      "changed",
    ],
    ["a removed line", (lines: string[]) => lines.filter((_, i) => i !== 3), 4, "missing"],
    ["a line twice", (lines: string[]) => lines.flatMap((l, i) => (i === 3 ? [l, l] : [l])), 4, "order"],
    ["lines in another order", (lines: string[]) => lines.toReversed(), 1, "missing"],
    ["a cut-off tail", (lines: string[]) => lines.slice(0, 7), 8, "cut-off"],
  ])("shows what was done to the file: %s", (_, change, seq, what) => {
    const lines = readFileSync(exported(), "utf8").trimEnd().split("\n");
    writeFileSync(exported(), `${change(lines).join("\n")}\n`);
    expect(verifiedFile("--head", `${db}.head`)).toMatchObject({ status: 1, broken: { seq, what } });
  });

  it("is refused when it is something else", () => {
    writeFileSync(exported(), '{"chain":"x"}\n');
    expect(verifiedFile().status).toBe(125);
    writeFileSync(exported(), "\0\xff");
    expect(verifiedFile().status).toBe(125);
  });

  it("writes CSV that no spreadsheet takes for formulas", () => {
    sqlite("UPDATE audit SET session = '=cmd|'' /C calc''!A0' WHERE seq = 1");
    const { stdout } = hermes(["export", "--csv"]);
    const [header, first] = stdout.split("\n");
    expect(header).toBe("chain,seq,time,session,kind,body,previous,hash,signature");
    expect(first).toContain(`,'=cmd|' /C calc'!A0,outcome,"{""id"":""c0"",""status"":""DONE""}",`);
  });
});
