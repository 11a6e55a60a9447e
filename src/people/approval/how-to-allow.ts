import type { AllowEntry } from "../../intent/guard/config/allow.js";
import { ADDRESS, AGENT_POLICIES, literally } from "../../nouns/allowance.js";
import { POLICY_ERROR } from "../../nouns/verdict.js";
import type { DecidedCall } from "../../record/audit/decided-call.js";

/** A refusal by a rule of a run's policy. */
interface RefusedCall {
  readonly call: string;
  readonly about?: DecidedCall | undefined;
  readonly policy: string;
  readonly rule?: string | undefined;
  /** The policy is a program, or not the user's. */
  readonly fixed?: boolean | undefined;
}

/** Rules that no entry of `allow:` lifts. */
const NEVER: ReadonlySet<string> = new Set([
  POLICY_ERROR,
  ..."self-defence own-records self-modification fork-bomb approved-script no-network other-network".split(
    " ",
  ),
]);
/** What the supervisor and the guard say in a run of an agent's tool counts as the tools' own. */
const OF_TOOLS: ReadonlySet<string> = new Set(["deed", "tools"]);

/** The narrowest entry of `allow:` that would lift it; undefined where none does. */
export function entryAgainstRefusal(refusal: RefusedCall): AllowEntry | undefined {
  const { call, about = {}, policy, rule = "", fixed } = refusal;
  if (fixed || NEVER.has(rule)) return undefined;
  const { argv, address, path, paths = [], flags = [] } = about;
  const entry = argv
    ? argv.length > 0 && { run: argv.map(literally) }
    : address !== undefined
      ? CONNECTS.test(call) && ADDRESS.test(address) && { connect: address }
      : path !== undefined && paths.length <= 1 && /^\/[^/]/.test(path) && TOUCHES_FILE.test(call)
        ? { [isRead(call, flags) ? "read" : "write"]: literally(path) }
        : undefined;
  if (!entry) return undefined;
  return AGENT_POLICIES.includes(policy) || OF_TOOLS.has(policy) ? entry : { ...entry, policy };
}

const READS = new Set([
  "hidden",
  "readlink",
  "readlinkat",
  "getxattr",
  "lgetxattr",
  "listxattr",
  "llistxattr",
]);
const CONNECTS = /^(?:connect|send(?:to|msg|mmsg))$/;
const TOUCHES_FILE =
  /^(?:hidden|readlink(?:at)?|l?(?:get|list)xattr|open(?:at2?)?|creat|(?:mkdir|mknod|unlink|symlink|link|fchmod|fchown|utimens)at2?|mkdir|mknod|rmdir|unlink|symlink|[fl]?chmod|[fl]?chown|utimes?|futimesat|f?truncate|[fl]?(?:set|remove)xattr(?:at)?)$/;
const WRITES = new Set(["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"]);

function isRead(call: string, flags: readonly string[]): boolean {
  if (READS.has(call)) return true;
  return /^open(?:at2?)?$/.test(call) && !flags.some((flag) => WRITES.has(flag));
}

/** What a person types to let it happen. `workspace`: commands are allowed there alone. */
export function allowCommand(entry: AllowEntry, workspace?: string): string {
  const { read, write, run, connect, policy } = entry;
  const [deed, what] = read
    ? ["read", [read].flat()]
    : write
      ? ["write", [write].flat()]
      : connect
        ? ["connect", [connect].flat()]
        : ["run", ["--", ...[run ?? []].flat()]];
  const under = policy === undefined ? [] : ["--policy", ...[policy].flat()];
  const place = deed === "run" && workspace !== undefined ? ["--in", workspace] : [];
  return ["hermes", "allow", deed!, ...under, ...place, ...what]
    .map((word) => quoted(word as string))
    .join(" ");
}

function quoted(word: string): string {
  return /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
