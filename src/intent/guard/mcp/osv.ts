import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { HermesError } from "../../../nouns/errors.js";
import {
  type Advisories,
  type Advisory,
  advisoryOf,
  concerns,
  type OsvRecord,
  type PackageReference,
} from "./advisory.js";
import type { McpSection } from "./section.js";

interface OsvOptions {
  readonly section: McpSection["osv"];
  /** The folder of the cache; without it, answers are not cached. */
  readonly cache?: string;
  /** Whether the API may be used. */
  readonly online: boolean;
}

/**
 * Advisories from OSV: the offline database first, then the cache, then the API (`/v1/querybatch`, all packages in
 * one request). Rejects when no source answers for a package; `fail_open` of the section decides what that means.
 */
export function osvAdvisories({ section, cache, online }: OsvOptions): Advisories {
  let database: readonly OsvRecord[] | undefined;
  return async (packages) => {
    const answers: (readonly Advisory[] | undefined)[] = packages.map(() => undefined);
    if (section.mode === "off") return packages.map(() => []);
    if (section.database !== undefined) {
      database ??= readDatabase(section.database);
      for (const [i, one] of packages.entries())
        answers[i] = database.filter((record) => concerns(record, one)).map(advisoryOf);
    }
    const unanswered = () =>
      packages.map((one, i) => ({ one, i })).filter(({ i }) => answers[i] === undefined);
    for (const { one, i } of unanswered()) answers[i] = readCache(cache, one, section.cache_hours);
    const left = unanswered();
    if (left.length > 0 && online && section.mode === "online") {
      const fresh = await query(
        left.map(({ one }) => one),
        section,
      );
      for (const [n, { one, i }] of left.entries()) {
        answers[i] = fresh[n]!;
        writeCache(cache, one, fresh[n]!);
      }
    }
    const still = unanswered();
    if (still.length > 0)
      throw new HermesError("OSV", {
        message: `no source has advisories on ${still.map(({ one }) => one.name).join(", ")}`,
      });
    return answers as (readonly Advisory[])[];
  };
}

function readDatabase(path: string): OsvRecord[] {
  if (statSync(path).isDirectory())
    return readdirSync(path)
      .filter((name) => /\.jsonl?$/.test(name))
      .flatMap((name) => readDatabase(join(path, name)));
  const text = readFileSync(path, "utf8");
  if (path.endsWith(".jsonl"))
    return text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => JSON.parse(line) as OsvRecord);
  const value = JSON.parse(text) as OsvRecord | OsvRecord[] | { vulns: OsvRecord[] };
  return Array.isArray(value) ? value : "vulns" in value ? value.vulns : [value];
}

function cacheFile(cache: string, { ecosystem, name, version }: PackageReference): string {
  return join(
    cache,
    `${createHash("sha256")
      .update(`${ecosystem}\0${name}\0${version ?? ""}`)
      .digest("hex")}.json`,
  );
}

function readCache(
  cache: string | undefined,
  one: PackageReference,
  hours: number,
): readonly Advisory[] | undefined {
  if (cache === undefined) return undefined;
  try {
    const { at, advisories } = JSON.parse(readFileSync(cacheFile(cache, one), "utf8")) as {
      at: number;
      advisories: Advisory[];
    };
    const age = Date.now() - at;
    return age >= 0 && age < hours * 3_600_000 && Array.isArray(advisories) ? advisories : undefined;
  } catch {
    return undefined;
  }
}

function writeCache(cache: string | undefined, one: PackageReference, advisories: readonly Advisory[]): void {
  if (cache === undefined) return;
  const file = cacheFile(cache, one);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.${process.pid}`, JSON.stringify({ at: Date.now(), package: one, advisories }));
    renameSync(`${file}.${process.pid}`, file);
  } catch {
    // A cache that cannot be written only costs another query next time.
  }
}

interface BatchAnswer {
  readonly results?: readonly {
    readonly vulns?: readonly { readonly id: string }[];
    readonly next_page_token?: string;
  }[];
}

/** The API takes at most 1000 queries at once, and pages long lists. */
const BATCH = 1000;
const PAGES = 20;

async function query(
  packages: readonly PackageReference[],
  section: McpSection["osv"],
): Promise<Advisory[][]> {
  const found: Advisory[][] = packages.map(() => []);
  let open = packages.map((one, i) => ({ i, query: queryOf(one) }));
  for (let page = 0; open.length > 0; page++) {
    if (page === PAGES) throw new HermesError("OSV", { message: "the API returns pages without end" });
    const now = open.slice(0, BATCH);
    const { results } = await post(
      `${section.url.replace(/\/+$/, "")}/v1/querybatch`,
      { queries: now.map(({ query: one }) => one) },
      section.timeout,
    );
    if (!Array.isArray(results) || results.length !== now.length)
      throw new HermesError("OSV", { message: "the API returned an unexpected response" });
    const next: typeof open = open.slice(BATCH);
    for (const [n, { i, query: one }] of now.entries()) {
      found[i]!.push(...(results[n]!.vulns ?? []).map(advisoryOf));
      const token = results[n]!.next_page_token;
      if (token) next.push({ i, query: { ...one, page_token: token } });
    }
    open = next;
  }
  return found;
}

function queryOf({ name, ecosystem, version }: PackageReference): Record<string, unknown> {
  return { package: { name, ecosystem }, ...(version !== undefined && { version }) };
}

async function post(url: string, body: unknown, seconds: number): Promise<BatchAnswer> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      redirect: "error",
      signal: AbortSignal.timeout(seconds * 1000),
    });
  } catch (error) {
    throw new HermesError(
      "OSV",
      { message: `${url} cannot be reached: ${(error as Error).message}` },
      { cause: error },
    );
  }
  if (!response.ok) throw new HermesError("OSV", { message: `${url} returned status ${response.status}` });
  return (await response.json()) as BatchAnswer;
}
