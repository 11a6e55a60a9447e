import type { IncomingHttpHeaders } from "node:http";
import { Readable, type Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { decodeFile } from "../files/encoding.js";

/** The most that is read of a response: on the wire, and decompressed. */
export const MAX_BYTES = 2 << 20;

const TEXT =
  /^(?:text\/|application\/(?:.*\+)?(?:json|xml|javascript|ecmascript|x-javascript|typescript|x-ndjson|jsonl|yaml|x-yaml|toml|sql|graphql|x-sh|x-www-form-urlencoded|rtf|x-httpd-php|manifest)\b|[^;]*\+(?:json|xml|yaml)\b|image\/svg\+xml)/i;

export interface ContentType {
  /** Lower case, without parameters; empty when the response has no content type. */
  readonly name: string;
  readonly charset: string | undefined;
  readonly isText: boolean;
  readonly isHtml: boolean;
}

export function contentType(headers: IncomingHttpHeaders): ContentType {
  const whole = headers["content-type"] ?? "";
  const name = whole.split(";")[0]!.trim().toLowerCase();
  return {
    name,
    charset: /charset\s*=\s*"?([\w.:-]+)/i.exec(whole)?.[1],
    isText: name === "" || TEXT.test(name),
    isHtml: /^(?:text\/html|application\/xhtml\+xml)$/.test(name),
  };
}

const PACKERS: Readonly<Record<string, () => Transform>> = {
  // A truncated body is decompressed as far as it goes.
  gzip: () => createGunzip({ finishFlush: constants.Z_SYNC_FLUSH }),
  "x-gzip": () => createGunzip({ finishFlush: constants.Z_SYNC_FLUSH }),
  deflate: () => createInflate({ finishFlush: constants.Z_SYNC_FLUSH }),
  br: () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }),
};

interface Unpacked {
  readonly bytes: Buffer;
  readonly truncated: boolean;
}

/** Stops at the limit: a kilobyte can decompress to a gigabyte. Undefined: an unknown content encoding. */
export async function unpacked(body: Buffer, headers: IncomingHttpHeaders): Promise<Unpacked | undefined> {
  const how = (headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (how === "identity" || how === "" || body.length === 0) return { bytes: body, truncated: false };
  const packer = PACKERS[how];
  if (!packer) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of Readable.from([body]).pipe(packer())) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > MAX_BYTES) return { bytes: Buffer.concat(chunks).subarray(0, MAX_BYTES), truncated: true };
  }
  return { bytes: Buffer.concat(chunks), truncated: false };
}

/** Undefined: the body is not text, even if its content type says so. */
export function decodeBody(bytes: Buffer, { charset, isHtml }: ContentType): string | undefined {
  const named = charset ?? (isHtml ? metaCharset(bytes) : undefined);
  const found = decodeFile(bytes);
  if (named === undefined || found === undefined || found.encoding.startsWith("utf-16")) return found?.text;
  try {
    return new TextDecoder(named).decode(bytes);
  } catch {
    return found.text;
  }
}

function metaCharset(bytes: Buffer): string | undefined {
  return /<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]+)/i.exec(bytes.toString("latin1", 0, 2048))?.[1];
}
