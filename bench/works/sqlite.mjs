import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const TRANSACTIONS = { full: 2400, quick: 500 };
const INSERTS = 20;

export const sqlite = {
  name: "sqlite",
  about: "transactions of 20 inserts, synchronous",
  needs: ["sqlite3"],
  prepare({ workspace }, size) {
    const insert = (i) => `INSERT INTO t VALUES (${i}, hex(randomblob(50)));`;
    const inserts = Array.from({ length: INSERTS }, (_, i) => insert(i)).join("");
    const all = `BEGIN;${inserts}COMMIT;\n`.repeat(TRANSACTIONS[size]);
    writeFileSync(join(workspace, "work.sql"), `CREATE TABLE t (a, b);\n${all}`);
  },
  reset: ({ workspace }) => rmSync(join(workspace, "work.db"), { force: true }),
  argv: () => ["sqlite3", "work.db", ".read work.sql"],
};
