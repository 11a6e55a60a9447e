import { wildcards } from "../../nouns/glob.js";
import { CAPABILITIES } from "./capability-table.js";
import type { Library } from "./libraries.js";
import type { Text } from "./strings.js";
import type { SyscallSite } from "./syscalls.js";

/** Something that a program could do, and why one should think so. */
export interface Capability {
  readonly id: string;
  readonly what: string;
  readonly notable: boolean;
  /** Whether the file itself has the means, or only libraries that it needs. */
  readonly by: "program" | "libraries";
  readonly evidence: readonly CapabilityEvidence[];
}

export type CapabilityEvidence =
  | { readonly kind: "import"; readonly name: string; readonly library?: string }
  | { readonly kind: "call"; readonly name: string; readonly addresses: readonly number[] }
  | { readonly kind: "text"; readonly text: string; readonly offset: number };

const MOST_EVIDENCE = 24;

interface Row {
  readonly exact: ReadonlySet<string>;
  readonly globs: readonly ((name: string) => boolean)[];
  readonly calls: ReadonlySet<string>;
}

const ROWS: ReadonlyMap<string, Row> = new Map(
  CAPABILITIES.map(({ id, imports, calls }) => {
    const names = imports.split(" ").filter(Boolean);
    return [
      id,
      {
        exact: new Set(names.filter((name) => !name.includes("*"))),
        globs: names.filter((name) => name.includes("*")).map(wildcards),
        calls: new Set(calls.split(" ").filter(Boolean)),
      },
    ];
  }),
);

/** What a program has the means for: nothing here says that it does it. */
export function capabilitiesOf(
  imports: readonly string[],
  sites: readonly SyscallSite[],
  texts: readonly Text[],
  libraries: readonly Library[],
): Capability[] {
  const paths = texts.filter(({ kind }) => kind === "path");
  return CAPABILITIES.flatMap((row): Capability[] => {
    const rules = ROWS.get(row.id)!;
    const uses = (name: string) => rules.exact.has(name) || rules.globs.some((matches) => matches(name));
    const own: CapabilityEvidence[] = imports.filter(uses).map((name) => ({ kind: "import", name }));
    for (const name of rules.calls) {
      const addresses = sites.filter((site) => site.name === name).map(({ address }) => address);
      if (addresses.length > 0)
        own.push({ kind: "call", name, addresses: addresses.slice(0, MOST_EVIDENCE) });
    }
    for (const { text, offset } of paths) if (row.text?.test(text)) own.push({ kind: "text", text, offset });
    const theirs = libraries.flatMap(({ name: library, imports }): CapabilityEvidence[] =>
      imports.filter(uses).map((name) => ({ kind: "import", name, library })),
    );
    if (own.length + theirs.length === 0) return [];
    return [
      {
        id: row.id,
        what: row.what,
        notable: row.notable === true,
        by: own.length > 0 ? "program" : "libraries",
        evidence: (own.length > 0 ? own : theirs).slice(0, MOST_EVIDENCE),
      },
    ];
  });
}
