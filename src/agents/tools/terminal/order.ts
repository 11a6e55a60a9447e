import { realpathSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { filterEnv } from "../../../intent/guard/credentials/env.js";
import { type Finding, findings } from "../../../intent/guard/finding.js";
import { heldAtMost } from "../../../people/approval/limits.js";
import type { RunOrder } from "../backend.js";
import type { ToolContext } from "../tool.js";

const { deny } = findings("terminal");

/** What the backend gets for every command. */
interface CommandOrder {
  readonly command: string;
  readonly cwd: string;
  readonly approved: readonly string[];
  /** By real path, as base64. */
  readonly scripts?: Readonly<Record<string, string>>;
  readonly scriptNames?: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly timeout: number;
  readonly more?: Partial<RunOrder>;
}

export function orderOf(
  { command, cwd, approved, scripts, scriptNames, timeout, more }: CommandOrder,
  world: ToolContext,
): RunOrder {
  const { workspace, home, config, atLeast } = world;
  const argv = ["bash", "-c", command];
  const env = environment(world);
  return {
    argv,
    cwd,
    env,
    timeout,
    deed: {
      workspace: real(workspace),
      home,
      searchPath: env.PATH ?? "",
      shell: argv,
      writable: grantedPlaces(command, cwd, approved, world),
      approved,
      ...(world.closed && { closed: world.closed }),
      ...(world.closedExcept && { closedExcept: world.closedExcept }),
      ...(scripts && { scripts }),
      ...(scriptNames && { scriptNames }),
      network: "public",
      config: { config, atLeast },
    },
    credentialFiles: world.credentials.list(),
    patience: heldAtMost(config.approvals),
    ...more,
  };
}

export function environment({ env, config, declared }: ToolContext): Record<string, string> {
  const { pass, strip } = config.credentials;
  return filterEnv(env, { declared: [...pass, ...declared], strip }).env;
}

/** Where a command runs: the workspace, or a folder in it. Returns a finding for any other place. */
export function workingDirectory(
  asked: string | undefined,
  { workspace }: ToolContext,
): { cwd: string } | { finding: Finding } {
  const root = real(workspace);
  const wanted = resolve(root, asked ?? ".");
  let cwd: string;
  try {
    cwd = realpathSync.native(wanted);
  } catch {
    return { finding: deny("working-directory", `The folder ${wanted} does not exist.`) };
  }
  if (cwd !== root && !cwd.startsWith(root === "/" ? "/" : `${root}/`))
    return {
      finding: deny(
        "working-directory",
        `${asked} resolves to ${cwd}, outside the workspace.`,
        undefined,
        "Leave workingDirectory out, or name a folder inside the workspace.",
      ),
    };
  return { cwd };
}

function real(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** The path that the command names was approved, or needs no approval. The grant covers that path alone. */
const ABOUT_PLACES = new Set(["write-outside", "delete-outside", "write-system"]);
const UNASKED = "write-new";

function grantedPlaces(
  command: string,
  cwd: string,
  approved: readonly string[],
  { guard, home }: ToolContext,
): string[] {
  const named = approved.some((rule) => ABOUT_PLACES.has(rule));
  return guard
    .check({ kind: "command", input: command, fields: { cwd } })
    .findings.flatMap(({ rule, action, span }) => {
      const granted = rule === UNASKED ? action === "allow" || named : named && ABOUT_PLACES.has(rule);
      return granted && span ? placeNamed(command.slice(span.start, span.end), cwd, home) : [];
    });
}

/** A word that names exactly one path. Any other word is asked about at the system call. */
function placeNamed(word: string, cwd: string, home: string): string[] {
  const plain = /^'([^']*)'$/.exec(word)?.[1] ?? /^"([^"$`\\]*)"$/.exec(word)?.[1] ?? word;
  if (/[\s$`*?[\]{}\\'"<>|;&()]/.test(plain) || plain === "") return [];
  const path = plain === "~" || plain.startsWith("~/") ? home + plain.slice(1) : plain;
  return [isAbsolute(path) ? path : resolve(cwd, path)];
}
