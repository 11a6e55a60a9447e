import { existsSync, readFileSync } from "node:fs";
import type { Suite } from "./suites.js";

/** What each test of a part said: `ok`, `failed`, `skipped`, or the line itself. */
export type Results = ReadonlyMap<string, string>;

export interface Ran {
  readonly stdout: string;
  /** An exit status, or why there is none. */
  readonly status: string;
  readonly junit: string;
}

const READERS: Readonly<Record<Suite["results"], (ran: Ran) => Iterable<readonly [string, string]>>> = {
  junit: ({ junit }) => (existsSync(junit) ? junitCases(readFileSync(junit, "utf8")) : []),
  tap: ({ stdout }) => tapPoints(stdout),
  lines: ({ stdout }) => stdout.split("\n").map((line) => split(line)),
  output: ({ stdout }) => [["its output", stdout]],
  status: () => [],
};

/** The part's own status is a result too: a suite that crashes has no others. */
export function resultsOf(suite: Suite, ran: Ran): Results {
  return new Map([...READERS[suite.results](ran), ["its exit status", ran.status]]);
}

function split(line: string): readonly [string, string] {
  const at = line.indexOf(" = ");
  return at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 3)];
}

/** <testcase name="…"> is empty, or holds <failure>, <error> or <skipped>. */
function* junitCases(xml: string): Iterable<readonly [string, string]> {
  for (const [, attributes = "", inner = ""] of xml.matchAll(
    /<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g,
  )) {
    const name = /name="([^"]*)"/.exec(attributes)?.[1] ?? "";
    yield [name, /<(failure|error)\b/.test(inner) ? "failed" : /<skipped\b/.test(inner) ? "skipped" : "ok"];
  }
}

/** `ok 3 name`, `not ok 4 name # SKIP why`. Numbers inside a name (pids, times) are no part of it. */
function* tapPoints(text: string): Iterable<readonly [string, string]> {
  let nth = 0;
  for (const [, not, name = "", directive] of text.matchAll(
    /^\s*(not )?ok\s+\d+\s*-?\s*([^#\n]*)(?:#\s*(\w+))?/gm,
  )) {
    nth++;
    const result = directive?.toUpperCase().startsWith("SKIP") ? "skipped" : not ? "failed" : "ok";
    yield [`${nth} ${name.trim().replace(/\d{3,}/g, "N")}`, result];
  }
}
