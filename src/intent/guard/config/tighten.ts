import type { YamlPath, YamlSource } from "../../../nouns/yaml/source.js";
import type { ConfigFile } from "./schema.js";

/**
 * Merges a project's file into the user's configuration. The project's file comes with the code that the agent works
 * on, so it is trusted no more than that code: it may refuse more, and allow nothing.
 */
type Tighten =
  /** Only the user's file may set it: it allows something, or names a program or a server. */
  | { readonly may: "not-set" }
  /** Values from loose to strict: a project may only move right. */
  | { readonly may: "go-up"; readonly order: readonly unknown[] }
  | { readonly may: "lower" | "raise" }
  /** Deny lists: a project may only add. */
  | { readonly may: "add" }
  /** Rules: a project may add those that allow nothing. */
  | { readonly may: "add-refusals" }
  /** Allow lists: a project may only remove. */
  | { readonly may: "narrow" }
  /** Actions of rules: a project sets the minimum. */
  | { readonly may: "demand" };

const notSet: Tighten = { may: "not-set" };

/** Every key of the file. A project may not set a key that is not listed. */
export const TIGHTENING_RULES: Readonly<Record<string, Tighten>> = {
  profile: { may: "go-up", order: ["standard", "strict"] },
  actions: { may: "demand" },
  allow: notSet,
  "approvals.mode": { may: "go-up", order: ["off", "auto", "on"] },
  "approvals.delay": { may: "raise" },
  "approvals.timeout": { may: "lower" },
  "approvals.offline": { may: "go-up", order: ["allow", "wait", "deny"] },
  "approvals.allow": { may: "narrow" },
  "approvals.deny": { may: "add" },
  "approvals.rules": { may: "add-refusals" },
  "approvals.auto": { may: "narrow" },
  "approvals.webhook": notSet,
  file_read_max_chars: { may: "lower" },
  resident: { may: "go-up", order: ["auto", "off"] },
  "files.deny": { may: "add" },
  "files.ask": { may: "add" },
  "files.re_read_warn": { may: "lower" },
  "files.re_read_stop": { may: "lower" },
  "credentials.pass": { may: "narrow" },
  "credentials.strip": { may: "add" },
  "urls.allow": { may: "narrow" },
  "security.tirith_enabled": { may: "go-up", order: [false, true] },
  "security.tirith_path": notSet,
  "security.tirith_timeout": notSet,
  "security.tirith_fail_open": { may: "go-up", order: [true, false] },
  "security.tirith_sha256": notSet,
  "memory.mode": { may: "go-up", order: ["warn", "strip", "block"] },
  "memory.distrust": { may: "add" },
  "skills.trusted": { may: "narrow" },
  "mcp.osv.mode": notSet,
  "mcp.osv.url": notSet,
  "mcp.osv.database": notSet,
  "mcp.osv.cache_hours": { may: "lower" },
  "mcp.osv.timeout": notSet,
  "mcp.osv.fail_open": { may: "go-up", order: [true, false] },
  "mcp.sampling.models": { may: "narrow" },
  "mcp.sampling.default_model": notSet,
  "mcp.sampling.max_tokens_cap": { may: "lower" },
  "mcp.sampling.max_rpm": { may: "lower" },
  "mcp.sampling.max_tool_rounds": { may: "lower" },
  "hooks.unknown_tools": { may: "go-up", order: ["allow", "ask", "deny"] },
  "backend.kind": notSet,
  "backend.oci.engine": notSet,
  "backend.oci.image": notSet,
  "backend.oci.rootfs": notSet,
  "backend.oci.network": notSet,
  "backend.oci.memory": notSet,
  "backend.oci.pids": notSet,
  "backend.oci.cpu_shares": notSet,
  "backend.oci.read_only": notSet,
  "backend.ssh.host": notSet,
  "backend.ssh.user": notSet,
  "backend.ssh.port": notSet,
  "backend.ssh.identity": notSet,
  "backend.ssh.known_hosts": notSet,
  "backend.ssh.workspace": notSet,
  "backend.ssh.hermes": notSet,
  patterns: { may: "add" },
};

export interface MergedConfig {
  readonly config: ConfigFile;
  /** The minimum actions that the project demands. */
  readonly atLeast: ConfigFile["actions"];
}

/** The user's configuration, tightened by the project's file. Throws where the project would loosen it. */
export function tightenConfig(user: ConfigFile, project: ConfigFile, source: YamlSource): MergedConfig {
  const config = structuredClone(user) as unknown as Record<string, unknown>;
  for (const place of leaves(source.value, [])) {
    const rule = TIGHTENING_RULES[place.join(".")] ?? notSet;
    if (rule.may === "demand") continue;
    const theirs = valueAt(project, place);
    const ours = valueAt(user, place);
    const fail = (why: string) =>
      source.error(place, `a project's file may only tighten: \`${place.join(".")}\` ${why}`);
    setAt(config, place, combined(rule, ours, theirs, fail));
  }
  return { config: config as unknown as ConfigFile, atLeast: demanded(project, source) };
}

function combined(rule: Tighten, ours: unknown, theirs: unknown, fail: (why: string) => Error): unknown {
  switch (rule.may) {
    case "go-up":
      if (rule.order.indexOf(theirs) < rule.order.indexOf(ours))
        throw fail(`is already ${ours}, which is stricter`);
      return theirs;
    case "lower":
      if ((theirs as number) > (ours as number)) throw fail(`is ${ours} and may only be lowered`);
      return theirs;
    case "raise":
      if ((theirs as number) < (ours as number)) throw fail(`is ${ours} and may only be raised`);
      return theirs;
    case "add":
      return [...(ours as unknown[]), ...(theirs as unknown[])];
    case "add-refusals":
      if ((theirs as { allow?: unknown }[]).some(({ allow }) => allow !== undefined))
        throw fail("would allow something");
      return [...(ours as unknown[]), ...(theirs as unknown[])];
    case "narrow": {
      const extra = (theirs as unknown[]).find((item) => !(ours as unknown[]).includes(item));
      if (extra !== undefined)
        throw fail(`would allow ${JSON.stringify(extra)}, which your own file does not allow`);
      return theirs;
    }
    default:
      throw fail("belongs in your own file");
  }
}

function demanded(project: ConfigFile, source: YamlSource): ConfigFile["actions"] {
  for (const [rule, action] of Object.entries(project.actions))
    if (action === "allow")
      throw source.error(["actions", rule], `a project's file may only tighten: it cannot allow \`${rule}\``);
  return project.actions;
}

/** The keys of a file that have values. Lists and `actions` count as one. */
function* leaves(value: unknown, place: YamlPath): Iterable<YamlPath> {
  if (
    place.join(".") in TIGHTENING_RULES ||
    typeof value !== "object" ||
    value === null ||
    Array.isArray(value)
  ) {
    if (value !== undefined && place.length > 0) yield place;
    return;
  }
  for (const [key, inner] of Object.entries(value)) yield* leaves(inner, [...place, key]);
}

function valueAt(value: unknown, place: YamlPath): unknown {
  return place.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], value);
}

function setAt(config: Record<string, unknown>, place: YamlPath, value: unknown): void {
  const parent = valueAt(config, place.slice(0, -1)) as Record<string, unknown>;
  parent[place.at(-1)!] = value;
}
