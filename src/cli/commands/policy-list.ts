import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { HermesError } from "../../nouns/errors.js";
import { shippedPolicies, shippedPolicy } from "../../policy/shipped.js";
import { readPolicy } from "../../policy/yaml/read.js";
import { paint, print } from "../views/output.js";

/** What policies in the other languages do: they have no place to say it. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  firewall: "The program may not connect at all: the shortest policy in Lua.",
  "network-policy":
    "The program may connect to this machine and to named peers, never to private networks or the metadata service.",
  virtualize:
    "The program sees other files and reaches other peers than it asks for, and a file that exists only here.",
  "coarse-time": "The program's clocks tick in steps of a millisecond.",
  "no-secrets": "The program may not open files that hold keys, tokens and passwords, in any home.",
  "virtual-time": "The program sees another date, and a faster or slower clock.",
};

interface ShippedPolicy {
  readonly name: string;
  readonly file: string;
  readonly language: string;
  readonly description: string;
}

/** The policies that come with HERMES. */
export function policyListCommand({ json }: { json?: boolean }): number {
  const all = shippedPolicies().map(describe);
  if (json) {
    print(`${JSON.stringify(all)}\n`);
    return 0;
  }
  const p = paint(1);
  const width = Math.max(...all.map(({ name }) => name.length));
  for (const { name, language, description } of all)
    print(
      `${p("bold", name.padEnd(width))}  ${p("dim", language.padEnd(4))}  ${firstSentence(description)}\n`,
    );
  return 0;
}

/** Prints the text of a policy that comes with HERMES: to read it, or as the beginning of another. */
export function policyShowCommand(name: string): number {
  const file = shippedPolicy(name);
  if (file === undefined)
    throw new HermesError("POLICY_UNKNOWN", { name, known: shippedPolicies().join(", ") });
  print(readFileSync(file, "utf8"));
  return 0;
}

function firstSentence(text: string): string {
  return text.split(/(?<=\.)\s/)[0]!;
}

function describe(name: string): ShippedPolicy {
  const file = shippedPolicy(name)!;
  const language = extname(file).slice(1);
  const description =
    language === "yaml"
      ? readPolicy(file, readFileSync(file, "utf8")).content.description
      : DESCRIPTIONS[name];
  return { name, file, language, description: (description ?? "").trim() };
}
