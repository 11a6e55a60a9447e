import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { suggest } from "../../abi/suggest.js";
import type { AllowEntry } from "../../intent/guard/config/allow.js";
import { userFile } from "../../intent/guard/config/config-files.js";
import {
  AGENT_POLICIES,
  ALLOWED_DEEDS,
  type AllowedDeed,
  isPattern,
  literally,
} from "../../nouns/allowance.js";
import { workspaceOf } from "../../nouns/workspace.js";
import {
  addAllowEntry,
  readAllowEntries,
  removeAllowEntry,
  type WrittenEntry,
} from "../../people/approval/allow-entries.js";
import { usageError } from "../options/values.js";
import { userName } from "../run/terminal-approver.js";
import { print } from "../views/output.js";

interface AllowFlags {
  readonly policy?: readonly string[];
  readonly in?: string;
  readonly everywhere?: boolean;
  readonly dryRun?: boolean;
  readonly store?: string;
  readonly json?: boolean;
}

const DEEDS = [...ALLOWED_DEEDS, "list", "revoke"];

export async function allowCommand(
  deed: AllowedDeed,
  words: readonly string[],
  flags: AllowFlags,
): Promise<number> {
  const folder = flags.in ?? (deed === "run" && !flags.everywhere ? "." : undefined);
  const what =
    deed === "run" ? [...words] : deed === "connect" ? single(words) : single(words.map(pathPattern));
  return add(
    {
      [deed]: what,
      ...(folder !== undefined && { in: workspaceOf(folder, folder).folder }),
      ...(flags.policy && { policy: single(flags.policy) }),
    },
    flags,
  );
}

/** What the log shows with this id. Without one, what is allowed is listed. */
export async function allowRefusalCommand(words: readonly string[], flags: AllowFlags): Promise<number> {
  const [id, ...more] = words;
  if (id === undefined) return allowListCommand(flags);
  if (more.length > 0 || !/^[0-9a-f]+$/.test(id)) {
    const near = suggest(id, DEEDS);
    throw usageError(
      `hermes allow takes ${DEEDS.join(", ")} or an id of hermes log, not "${id}"${near ? `: did you mean ${near}?` : ""}`,
    );
  }
  const { findRefusal } = await import("./log.js");
  const entry = await findRefusal(id, flags.store);
  return add(flags.policy ? { ...entry, policy: single(flags.policy) } : entry, flags);
}

async function add(entry: AllowEntry, flags: AllowFlags): Promise<number> {
  const file = ownFile();
  const day = new Date().toISOString().slice(0, 10);
  const isNew = flags.dryRun || (await addAllowEntry(file, entry, `by ${userName()} on ${day}`));
  if (flags.json) print(`${JSON.stringify({ file, entry, added: isNew && !flags.dryRun })}\n`);
  else {
    const said = flags.dryRun ? "would allow" : isNew ? "allowed" : "allowed already";
    print(`${said}: ${describe(entry)}\n`);
    if (!flags.dryRun && isNew) {
      const { number } = readAllowEntries(file).at(-1)!;
      print(
        `in ${file}, from the next command or run on; take it back with: hermes allow revoke ${number}\n`,
      );
    }
  }
  return 0;
}

export function allowListCommand({ json }: AllowFlags): number {
  const entries = readAllowEntries(ownFile());
  if (json) print(`${JSON.stringify(entries)}\n`);
  else if (entries.length === 0) print("hermes.yaml allows nothing that rules refuse.\n");
  else print(entries.map(line).join(""));
  return 0;
}

export async function allowRevokeCommand(number: string, { json }: AllowFlags): Promise<number> {
  const file = ownFile();
  const found = readAllowEntries(file).find((one) => String(one.number) === number);
  if (!found) throw usageError(`there is no entry ${number}: see hermes allow list`);
  await removeAllowEntry(file, found.entry);
  print(json ? `${JSON.stringify(found)}\n` : `revoked: ${describe(found.entry)}\n`);
  return 0;
}

function ownFile(): string {
  return userFile({ workspace: ".", home: homedir(), env: process.env });
}

function line({ number, entry, comment }: WrittenEntry): string {
  return `${String(number).padStart(3)}  ${describe(entry)}${comment === "" ? "" : `  (${comment})`}\n`;
}

/** How wide an entry is, in one sentence. */
function describe({ read, write, run, connect, in: folder, policy }: AllowEntry): string {
  const files = (paths: string | readonly string[]) => [paths].flat().map(pathWords).join(", ");
  const what = read
    ? `read ${files(read)}`
    : write
      ? `make, change, delete and read ${files(write)}`
      : connect
        ? `connect to ${[connect].flat().join(", ")}`
        : `run ${[run ?? []].flat().join(" ")}`;
  const place = folder === undefined ? "in every workspace" : `in the workspace ${folder}`;
  const policies = policy === undefined ? AGENT_POLICIES : [policy].flat();
  return `${what}; ${place}; for ${policy === undefined ? "agents (guard, " : "runs under ("}${policies.join(", ")})`;
}

function pathWords(path: string): string {
  if (path.endsWith("/**")) return `${path.slice(0, -3)} with all below it`;
  return isPattern(path) ? `all that match ${path}` : path.replace(/\\(.)/gs, "$1");
}

/** An existing folder stands for all below it. Links are followed now: rules decide on what a path leads to. */
function pathPattern(text: string): string {
  if (isPattern(text)) return text.startsWith("~/") ? text : resolve(text);
  const path = realPlace(resolve(text.startsWith("~/") ? join(homedir(), text.slice(2)) : text));
  return literally(path) + (isFolder(path) ? "/**" : "");
}

/** What cannot be looked at is taken for a file. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function realPlace(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path === "/" ? path : join(realPlace(dirname(path)), path.slice(path.lastIndexOf("/") + 1));
  }
}

function single<T>(list: readonly T[]): T | T[] {
  return list.length === 1 ? list[0]! : [...list];
}
