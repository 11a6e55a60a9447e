import * as z from "zod";
import {
  ADDRESS,
  AGENT_POLICIES,
  ALLOWED_DEEDS,
  type Allowance,
  isPattern,
} from "../../../nouns/allowance.js";

const list = <T extends z.ZodType>(one: T) => z.union([one, z.array(one).min(1)]);

/** Braces and sets would mean different things to the guard and to the kernel's rules. */
const path = z
  .string()
  .refine((text) => /^(?:\/|~\/)/.test(text), { error: "is a path that begins with / or ~/" })
  .refine((text) => !/(?:^|[^\\])[[\]{}]/.test(text), {
    error: "takes *, ** and ? as wildcards, and \\ before a sign that means itself",
  })
  .refine((text) => !/\/\.{1,2}(?:\/|$)/.test(text), { error: "has no . or .. in it" })
  .refine((text) => !isTooWide(text), { error: "is a whole disk or home: name a folder in it" });

/** The folders before the first wildcard say how much a pattern covers. */
function isTooWide(text: string): boolean {
  const folders = text.split("/").filter((name) => name !== "" && name !== "~");
  const first = folders.findIndex(isPattern);
  const literal = first < 0 ? folders : folders.slice(0, first);
  if (text.startsWith("~/")) return literal.length === 0;
  return literal.length === 0 || (first >= 0 && /^(?:home|Users)$/.test(literal[0]!) && literal.length < 3);
}

const command = z
  .union([
    z.string().refine((text) => !/["'`$;&|<>\\]/.test(text), {
      error: "is one command without quotes: write a list of words, [git, commit, -m, a b]",
    }),
    z.array(z.string()).min(1),
  ])
  .refine((given) => !isPattern(wordsOf(given)[0] ?? "*"), { error: "begins with the name of a program" });

const address = z.string().regex(ADDRESS, {
  error: "is a host, an address or a range, with a port if you like, or unix:/path",
});

/** An entry of `allow:` in hermes.yaml. */
const entry = z
  .strictObject({
    read: list(path).optional().describe("Files that may be read."),
    write: list(path).optional().describe("Files that may be made, changed, deleted and read."),
    run: command
      .optional()
      .describe("A command: `git push origin *`; * is part of a word, ** any number of words."),
    connect: list(address).optional().describe("Addresses that may be reached: localhost:5432, 10.1.0.0/16."),
    in: z
      .string()
      .regex(/^(?:\/|~\/)/, { error: "is a folder that begins with / or ~/" })
      .optional()
      .describe("Only where this folder is the workspace."),
    policy: list(z.string().min(1))
      .optional()
      .describe(
        "The policies of runs whose rules it lifts. Default: what holds agents: the guard, tools, agent.",
      ),
  })
  .refine((row) => ALLOWED_DEEDS.filter((deed) => row[deed] !== undefined).length === 1, {
    error: "takes one of read, write, run and connect",
  });

export const allowSection = z
  .array(entry)
  .default([])
  .describe("What rules refuse and you allow: to the guard and to the kernel's rules alike.");
export type AllowEntry = z.infer<typeof entry>;

/** What the entries allow in this workspace. */
export function allowancesOf(entries: readonly AllowEntry[], workspace: string, home: string): Allowance[] {
  const atHome = (text: string) => (text.startsWith("~/") ? home + text.slice(1) : text);
  return entries.flatMap((row): Allowance[] => {
    if (row.in !== undefined && atHome(row.in).replace(/(?<=.)\/$/, "") !== workspace) return [];
    const policies = row.policy === undefined ? AGENT_POLICIES : [row.policy].flat();
    const { read, write, run, connect } = row;
    const files = (does: "read" | "write", paths: string | readonly string[] = []) =>
      [paths].flat().map((what): Allowance => ({ does, what: atHome(what), policies }));
    return [
      ...files("read", read),
      ...files("write", write),
      ...(run === undefined ? [] : [{ does: "run" as const, what: wordsOf(run), policies }]),
      ...[connect ?? []].flat().map((what): Allowance => ({ does: "connect", what, policies })),
    ];
  });
}

function wordsOf(command: string | readonly string[]): readonly string[] {
  return typeof command === "string" ? command.trim().split(/\s+/) : command;
}
