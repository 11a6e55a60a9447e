import { HermesError } from "../../nouns/errors.js";
import type { Operation, SqlDialect } from "./sql.js";

/** What carries out operations: a file, or a server. */
export interface SqlEngine {
  readonly dialect: SqlDialect;
  readonly name: string;
  readonly beside: string;
  /** An operation of one SELECT. */
  read<T>(operation: () => Operation<T>): Promise<T>;
  /** Runs in one transaction. It is durable when this returns. */
  write<T>(operation: () => Operation<T>, about?: "approvals"): Promise<T>;
  onApprovals(changed: () => void): () => void;
  close(): Promise<void>;
}

/** Codes of both engines, as far as a person can do something about them. */
const MEANING: readonly (readonly [codes: RegExp, message: string])[] = [
  [/^(SQLITE_FULL|ENOSPC|53100)/, "the disk is full; nothing of this was written"],
  [
    /^(SQLITE_CORRUPT|SQLITE_NOTADB|XX001|XX002)/,
    "it is damaged, or it is no database: put it aside, or restore it from a backup",
  ],
  [
    /^(SQLITE_READONLY|SQLITE_CANTOPEN|SQLITE_PERM|EROFS|EACCES|EPERM|25006|42501)/,
    "it cannot be written here; who starts HERMES must be able to write to it",
  ],
  [/^SQLITE_IOERR/, "the disk fails"],
  [/^(SQLITE_BUSY|55P03)/, "another process has kept it locked for too long"],
  [/^(28P01|28000)/, "the server does not let us in"],
  [/^3D000/, "the server has no such database: make it with createdb"],
  [
    /^(ECONNREFUSED|ENOENT|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EAI_|57P03|53300)/,
    "it cannot be reached",
  ],
  [
    /^(ECONNRESET|EPIPE|57P01|57P02|08)/,
    "the server went away; what was not acknowledged may or may not be written",
  ],
];

export function storeError(store: string, error: unknown): HermesError {
  if (error instanceof HermesError) return error;
  const { code = "", message } = error as NodeJS.ErrnoException;
  const known = MEANING.find(([codes]) => codes.test(code))?.[1];
  return new HermesError(
    "STORE",
    { store, message: known ? `${known} (${message})` : message },
    { cause: error },
  );
}
