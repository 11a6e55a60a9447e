import { homedir } from "node:os";
import { resolve } from "node:path";
import { matchOwn, matchProtected } from "../../intent/guard/files/match.js";
import type { Context } from "../../intent/guard/layer.js";
import type { HookCall } from "./agent.js";

/**
 * Search tools open thousands of files themselves, so neither their path arguments nor the supervisor can restrict them.
 * Where the tool takes exclusion globs, they are added beforehand. From the results, lines of files that the agent may not
 * read are removed.
 */

/** Names that hold secrets in any folder, as globs. The guard knows more of them and judges the results. */
const LEFT_OUT = [
  "**/.env",
  "**/.env.*",
  "**/.envrc",
  "**/*.env",
  "**/.{dev,prod}.vars",
  "**/.{ssh,gnupg,aws,azure,kube,password-store,mozilla,hermes}/**",
  "**/id_{rsa,dsa,ecdsa,ed25519}*",
  "**/*.{ppk,kdbx,p12,pfx,jks,keystore,keytab,tfstate,tfvars}",
  "**/*.{key,pem}",
  "**/.{netrc,pgpass,my.cnf,git-credentials,vault-token,pypirc,boto,s3cfg,dockercfg,htpasswd}",
  "**/.config/{gcloud,gh,op,rclone,doctl,hub,google-chrome,chromium}/**",
  "**/.*_history",
  "**/hermes.db*",
];

/** The tool's globs with ours after them: the last matching glob wins. */
export function excludeProtected(globs: unknown): string {
  const own = typeof globs === "string" && globs.trim() !== "" ? [globs.trim()] : [];
  return [...own, ...LEFT_OUT.map((glob) => `!${glob}`)].join(" ");
}

/** Whether the agent may not read a file that a search names. */
export function refusedFile(
  { cwd, workspace }: HookCall,
  config: Context["config"],
): (path: string) => boolean {
  const context = { home: homedir(), workspace: workspace.folder, config } as Context;
  const known = new Map<string, boolean>();
  return (path) => {
    const found = known.get(path);
    if (found !== undefined) return found;
    const whole = resolve(cwd, path);
    const refused = (matchProtected(whole, context, "read") ?? matchOwn(whole, context)) !== undefined;
    known.set(path, refused);
    return refused;
  };
}

const LONGEST_PATH = 4096;
/** `File: path` above the matching lines of that file, up to a line of dashes. */
const HEADING = /^File: (?<path>.+)$/;
const END = /^-{2,}$/;

/** The results without the lines of refused files. */
export function withoutRefusedLines(text: string, isRefused: (path: string) => boolean): string {
  let below = false;
  const lines = text.split("\n").filter((line) => {
    const heading = HEADING.exec(line)?.groups?.path;
    if (heading !== undefined) below = isRefused(heading);
    else if (END.test(line)) below = false;
    return !below && !prefixes(line).some(isRefused);
  });
  return lines.join("\n");
}

/** Every possible path in `path:12:text`, `path-12-text` or `path:text`. */
function prefixes(line: string): string[] {
  const found: string[] = [];
  for (const { index } of line.slice(0, LONGEST_PATH).matchAll(/[:-]/g)) {
    if (index > 0) found.push(line.slice(0, index));
    if (found.length > 64) break;
  }
  return found;
}
