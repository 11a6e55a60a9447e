import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import type { ClientConfig } from "pg";
import { HermesError } from "../../nouns/errors.js";

interface Connection {
  /** Without the password. */
  readonly name: string;
  readonly config: ClientConfig;
}

const PARAMETERS = ["host", "sslmode", "sslrootcert"];

/**
 * postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…&sslrootcert=FILE, or with host=/FOLDER for a socket. Whoever can
 * read or change what goes over the wire could answer approvals: off this machine there is TLS, and the server's
 * certificate is checked, always.
 */
export function parsePostgresUrl(text: string): Connection {
  const url = parsed(text);
  const { searchParams } = url;
  const unknown = [...searchParams.keys()].find((key) => !PARAMETERS.includes(key));
  if (unknown !== undefined) throw wrong(`it takes no "${unknown}", only ${PARAMETERS.join(", ")}`);
  const host = searchParams.get("host") ?? (decodeURIComponent(url.hostname) || "localhost");
  const user = decodeURIComponent(url.username) || process.env.PGUSER || userInfo().username;
  const database = decodeURIComponent(url.pathname.slice(1)) || user;
  const port = Number(url.port || 5432);
  const password = decodeURIComponent(url.password);
  return {
    name: `postgres://${host}:${port}/${database}`,
    config: {
      ...{ host: host.replace(/^\[(.*)\]$/, "$1"), port, user, database },
      ...(password !== "" && { password }),
      ssl: tls(host, searchParams),
    },
  };
}

function parsed(text: string): URL {
  try {
    return new URL(text);
  } catch {
    // Node's own error repeats the text, and with it the password.
    throw wrong("it must look like postgres://USER@HOST:PORT/DATABASE");
  }
}

function tls(host: string, parameters: URLSearchParams): ClientConfig["ssl"] {
  const mode = parameters.get("sslmode");
  const near = isNear(host);
  if (mode !== null && !["disable", "require", "verify-full"].includes(mode))
    throw wrong(`sslmode=${mode}: it takes verify-full, require (which means the same here) or disable`);
  if (mode === "disable" && !near)
    throw wrong(`sslmode=disable is for this machine only: the way to ${host} needs TLS`);
  if (near && (mode === null || mode === "disable")) return false;
  const authorities = parameters.get("sslrootcert");
  return { rejectUnauthorized: true, ...(authorities !== null && { ca: readAuthorities(authorities) }) };
}

function isNear(host: string): boolean {
  return (
    host.startsWith("/") ||
    host === "localhost" ||
    /^127\.\d+\.\d+\.\d+$/.test(host) ||
    /^\[?::1\]?$/.test(host)
  );
}

function readAuthorities(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw wrong(`sslrootcert: ${(cause as Error).message}`);
  }
}

function wrong(message: string): HermesError {
  return new HermesError("STORE", { store: "postgres", message });
}
