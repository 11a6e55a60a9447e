import { type Ecosystem, KNOWN_BAD, POPULAR } from "./popular.js";

/** PyPI folds case and separators (PEP 503); npm folds nothing, but people do. */
function folded(name: string, ecosystem: Ecosystem): string {
  return ecosystem === "PyPI" ? name.toLowerCase().replace(/[-_.]+/g, "-") : name.toLowerCase();
}

/** The package that this name is probably mistaken for; undefined when none. */
export function lookalikeOf(name: string, ecosystem: Ecosystem): { of: string; known: boolean } | undefined {
  const own = folded(name, ecosystem);
  const popular = POPULAR[ecosystem];
  if (own.startsWith("@") || popular.has(own)) return scopedLookalike(own);
  if (KNOWN_BAD[ecosystem].has(own)) return { of: nearest(own, popular) ?? own, known: true };
  const of = nearest(own, popular);
  return of === undefined ? undefined : { of, known: false };
}

/** Trusted scopes, and names that differ from one by a letter. */
const SCOPES = [
  "@types",
  "@babel",
  "@angular",
  "@vue",
  "@nestjs",
  "@aws-sdk",
  "@google-cloud",
  "@azure",
  "@microsoft",
  "@openai",
  "@anthropic-ai",
  "@modelcontextprotocol",
  "@reduxjs",
  "@testing-library",
  "@playwright",
  "@vercel",
  "@stripe",
  "@sentry",
  "@prisma",
  "@langchain",
  "@tanstack",
  "@mui",
  "@emotion",
  "@storybook",
  "@octokit",
  "@eslint",
  "@rollup",
  "@vitejs",
];

function scopedLookalike(name: string): { of: string; known: boolean } | undefined {
  const scope = name.split("/")[0]!;
  if (!name.startsWith("@") || SCOPES.includes(scope)) return undefined;
  const of = SCOPES.find(
    (trusted) => trusted.length >= 6 && (isOneSlip(scope, trusted) || letters(scope) === letters(trusted)),
  );
  return of ? { of: `${of}/${name.split("/")[1] ?? ""}`, known: false } : undefined;
}

function letters(name: string): string {
  return name.replace(/[-_.]/g, "");
}

/** Short names have honest neighbours; from six letters on, one slip is hardly ever another package. */
function nearest(name: string, popular: ReadonlySet<string>): string | undefined {
  if (name.length < 4) return undefined;
  const plain = letters(name);
  for (const known of popular) {
    if (known.length < 5) continue;
    if (
      letters(known) === plain &&
      known !== name &&
      known.includes("-") !== name.includes("-") &&
      known.length >= 6
    )
      return known;
    if (known.length >= 6 && isOneSlip(name, known) && !isHonest(name, known)) return known;
    if (known.length >= 5 && isSwap(name, known)) return known;
    if (unleet(name) === known && name !== known) return known;
  }
  return undefined;
}

function unleet(name: string): string {
  return name.replace(/0/g, "o").replace(/1/g, "l").replace(/3/g, "e").replace(/5/g, "s").replace(/rn/g, "m");
}

/** A version or a plural at the end is usual for successors: mysql2, types. */
function isHonest(name: string, known: string): boolean {
  return (
    (name.startsWith(known) && /^[\d]$/.test(name.slice(known.length))) ||
    (known.startsWith(name) && /^[\ds]$/.test(known.slice(name.length)))
  );
}

/** One letter added, removed or replaced. */
function isOneSlip(a: string, b: string): boolean {
  if (a === b || Math.abs(a.length - b.length) > 1) return false;
  let i = 0;
  while (i < Math.min(a.length, b.length) && a[i] === b[i]) i++;
  if (a.length === b.length) return a.slice(i + 1) === b.slice(i + 1) || isSwap(a, b);
  return a.length > b.length ? a.slice(i + 1) === b.slice(i) : a.slice(i) === b.slice(i + 1);
}

function isSwap(a: string, b: string): boolean {
  if (a.length !== b.length || a === b) return false;
  let i = 0;
  while (a[i] === b[i]) i++;
  return a[i] === b[i + 1] && a[i + 1] === b[i] && a.slice(i + 2) === b.slice(i + 2);
}
