import type { HermesError } from "../../../nouns/errors.js";
import { checkShape, joined } from "../../../nouns/yaml/shape.js";
import type { YamlPath, YamlSource } from "../../../nouns/yaml/source.js";
import { RULES_ON_PLACES } from "../command/allowed.js";
import { FILE_RULES_TO_ALLOW } from "../files/layer.js";
import { HOST_RULES } from "../urls/ranges.js";
import { isEffect } from "./approvals.js";
import { plainMessage } from "./messages.js";
import { unknownKey, unknownRule, unknownRulePattern } from "./rule-names.js";
import { type ConfigFile, configSchema, keysAt } from "./schema.js";

export function checkConfig(source: YamlSource): ConfigFile {
  if (source.value === undefined) return configSchema.parse({});
  const config = checkShape(source, configSchema, { at: keysAt }, plainMessage);
  const wrong = [...wrongNames(config)].map(({ place, message, onKey = false }) =>
    source.error(place, message, { onKey }),
  );
  if (wrong.length > 0) throw joined(wrong as [HermesError, ...HermesError[]]);
  return config;
}

interface Wrong {
  readonly place: YamlPath;
  readonly message: string;
  readonly onKey?: boolean;
}

/** Names of rules that do not exist, and actions that only one of the planes would hold to. */
function* wrongNames({ actions, approvals, patterns }: ConfigFile): Iterable<Wrong> {
  const own = patterns.map(({ id }) => id);
  for (const [name, action] of Object.entries(actions)) {
    const message = unknownRule(name, own) ?? (action === "allow" ? heldByBoth(name) : undefined);
    if (message) yield { place: ["actions", name], message, onKey: true };
  }
  for (const [i, { allow, ask, deny }] of approvals.rules.entries())
    for (const [key, pattern] of Object.entries({ allow, ask, deny })) {
      const message = pattern === undefined ? undefined : unknownRulePattern(pattern, own);
      if (message) yield { place: ["approvals", "rules", i, key], message };
    }
  for (const list of ["allow", "deny"] as const)
    for (const [i, key] of approvals[list].entries()) {
      const message = unknownKey(key, own);
      if (message) yield { place: ["approvals", list, i], message };
    }
  for (const [i, name] of approvals.auto.entries()) {
    const message = isEffect(name) ? undefined : unknownRule(name, own);
    if (message) yield { place: ["approvals", "auto", i], message };
  }
}

const FILES: ReadonlySet<string> = new Set([...RULES_ON_PLACES, ...FILE_RULES_TO_ALLOW, "outside-workspace"]);
const HOSTS: ReadonlySet<string> = new Set([...HOST_RULES, "private-address", "internal-address"]);

/** The kernel's rules hold files and addresses too, and know no names of the guard's rules. */
function heldByBoth(name: string): string | undefined {
  if (FILES.has(name))
    return `\`${name}\` is about files, which the kernel's rules hold as well: list the files under \`allow:\`, e.g. - { read: ~/app/.env } or { write: ~/notes/** }`;
  if (HOSTS.has(name))
    return `\`${name}\` is about addresses, which the kernel's rules hold as well: list them under \`allow:\`, e.g. - { connect: localhost:3000 }`;
  return undefined;
}
