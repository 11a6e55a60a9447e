import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { HermesError } from "../nouns/errors.js";

/** Where traces are uploaded, in blocks. Writers to that place are untrusted, and so is what is fetched. */
export interface TraceStorage {
  readonly name: string;
  put(key: string, bytes: Buffer): Promise<void>;
  get(key: string): Promise<Buffer>;
}

/** A folder, or `s3://BUCKET/PREFIX?endpoint=https://…&region=…` with the keys in AWS_ACCESS_KEY_ID and …_SECRET_…. */
export function traceStorageAt(
  text: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): TraceStorage {
  return text.startsWith("s3:") ? new Bucket(text, env) : new Folder(resolve(text.replace(/^file:\/\//, "")));
}

/** We make the names, so they contain no path traversal. */
function checked(key: string): string {
  if (!/^[\w.-]+(\/[\w.-]+)*$/.test(key) || key.split("/").some((part) => /^\.+$/.test(part)))
    throw new HermesError("FLEET", { message: `"${key}" is not the name of a trace block` });
  return key;
}

class Folder implements TraceStorage {
  readonly name: string;

  constructor(folder: string) {
    this.name = folder;
  }

  async put(key: string, bytes: Buffer): Promise<void> {
    const file = join(this.name, checked(key));
    mkdirSync(dirname(file), { recursive: true, mode: 0o750 });
    const fd = openSync(`${file}.new`, "w", 0o640);
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(`${file}.new`, file);
  }

  async get(key: string): Promise<Buffer> {
    return readFileSync(join(this.name, checked(key)));
  }
}

class Bucket implements TraceStorage {
  readonly name: string;
  readonly #base: string;
  readonly #region: string;
  readonly #keys: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };

  constructor(text: string, env: Readonly<Record<string, string | undefined>>) {
    const url = new URL(text);
    const region = url.searchParams.get("region") ?? env.AWS_REGION ?? "us-east-1";
    const endpoint = url.searchParams.get("endpoint") ?? `https://s3.${region}.amazonaws.com`;
    const { protocol, hostname, origin } = new URL(endpoint);
    if (protocol !== "https:" && !/^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(hostname))
      throw new HermesError("FLEET", { message: `the connection to ${hostname} needs TLS: use https://` });
    const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = env;
    if (!id || !secret)
      throw new HermesError("FLEET", { message: "S3 needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" });
    this.name = `s3://${url.hostname}${url.pathname}`;
    this.#base = `${origin}/${url.hostname}${url.pathname.replace(/\/$/, "")}`;
    this.#region = region;
    this.#keys = { accessKeyId: id, secretAccessKey: secret, ...(token && { sessionToken: token }) };
  }

  put(key: string, bytes: Buffer): Promise<void> {
    return this.#ask("PUT", key, bytes).then(() => undefined);
  }

  get(key: string): Promise<Buffer> {
    return this.#ask("GET", key);
  }

  async #ask(method: string, key: string, bytes?: Buffer): Promise<Buffer> {
    const { AwsClient } = await import("aws4fetch");
    const client = new AwsClient({ ...this.#keys, region: this.#region, service: "s3", retries: 3 });
    const body = bytes && new Uint8Array(bytes);
    const answer = await client.fetch(`${this.#base}/${checked(key)}`, { method, ...(body && { body }) });
    if (!answer.ok)
      throw new HermesError("FLEET", {
        message: `${this.name}: ${method} ${key}: ${answer.status} ${answer.statusText}`,
      });
    return Buffer.from(await answer.arrayBuffer());
  }
}
